import { corruptError } from "../../errors.ts";
import type { RunOptions, Store } from "../../store/contract.ts";
import { type Answer, FRAME_HEADER_BYTES, goesOn, type Known, STATUS } from "../format/answer.ts";
import { HEADER_BYTES } from "../format/chunk.ts";
import { law } from "../format/law.ts";
import type { ClosedChunk, Reach } from "../format/older.ts";
import { Rolled } from "../format/rolled.ts";
import { cold } from "../steps/cold.ts";
import { type Read, read } from "../steps/read.ts";
import { closedKey } from "../steps/rotate.ts";

/** Pages of one chunk asked for in one turn, once its length is known. */
const PAGES_ABREAST = 4;
const NO_FRAME = new Uint8Array(FRAME_HEADER_BYTES);

/** What was found in one turn, and whether the chunk that links it was the journal's at the same instant. */
export interface Found {
  /** What a held chunk lacks, if that was asked for. */
  rest: Answer | undefined;
  /** In ascending order; undefined: no such chunk. */
  chunks: (ClosedChunk | undefined)[];
  isLinked: boolean;
}

/** Of the chunk that links a turn, at the turn's instant; unknown where there is no such instant. */
type LinkState = "linked" | "gone" | "unknown";

/**
 * Reads chunks of one journal, what belongs together in one turn: the store then runs it as one script, at one instant.
 *
 * A turn over closed chunks reads with them, by its name as the open one and as a closed one, the chunk whose births
 * they are to lead up to, the link. Where that is there at the same instant, they are what it was rotated from,
 * whatever was read before and wherever (a failover may lie between); else somebody has to look at it afterwards.
 */
export class ChunkReads {
  readonly #store: Store;
  readonly #key: string;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  open(known: Read): Promise<Answer> {
    return this.#read(this.#key, known);
  }

  /** Where nothing is known: the open chunk, and the closed ones in reach as far as they are found. */
  async cold(reach: Reach): Promise<Answer> {
    return this.#checked(this.#key, await this.#store.run(cold, this.#key, reach));
  }

  closed(number: number, known: Read): Promise<Answer> {
    return this.#read(closedKey(this.#key, number), known);
  }

  /**
   * `count` closed chunks from number `first` on, and what is lacking of `held`. Throws Rolled where what is held does
   * not go on, or the link is gone.
   */
  async find(first: number, count: number, link: Known, held?: Known): Promise<Found> {
    const asks: [number, Read][] = held ? [[held.number, held]] : [];
    // Nothing is known of them yet, but that two pages are all of one that was closed in time.
    const second: Known = { number: 0, birth: 0, length: law.pageBytes, place: 0, frame: NO_FRAME };
    for (let number = first; number < first + count; number++) asks.push([number, undefined], [number, second]);
    const { answers, state } = await this.#turn(asks, link);
    const rest = held && answers.shift();
    if (rest && !goesOn(held, rest)) throw new Rolled(rest.header !== undefined);
    if (state === "gone") throw new Rolled();
    const chunks = Array.from({ length: count }, (_, i) => joined(answers[2 * i], answers[2 * i + 1]));
    return { rest, chunks, isLinked: state === "linked" };
  }

  /** All bytes of a closed chunk after its header. */
  async frames(chunk: ClosedChunk, link: Known): Promise<{ frames: Uint8Array; isLinked: boolean }> {
    const { header, length } = chunk;
    const { number, birth } = header;
    let { bytes } = chunk;
    let isLinked = true;
    while (bytes.length < length) {
      const asks: [number, Read][] = [];
      for (let at = bytes.length; at < length && asks.length < PAGES_ABREAST; at += law.pageBytes)
        asks.push([number, { number, birth, length: at, place: 0, frame: NO_FRAME }]);
      const turn = await this.#turn(asks, link);
      if (turn.state === "gone") throw new Rolled();
      isLinked &&= turn.state === "linked";
      for (const answer of turn.answers)
        if (!goesOn(header, answer) || answer.bytes.length === 0 || answer.length !== length) throw new Rolled();
      bytes = concatenated([bytes, ...turn.answers.map((answer) => answer.bytes)]);
    }
    return { frames: bytes.subarray(HEADER_BYTES), isLinked };
  }

  /** Whether a chunk, open or closed, is still the journal's, with all that is known of it. */
  async has(known: Known): Promise<boolean> {
    const answers = await Promise.all([this.open(known), this.closed(known.number, known)]);
    return answers.some((answer) => goesOn(known, answer));
  }

  async #turn(asks: readonly [number, Read][], link: Known): Promise<{ answers: Answer[]; state: LinkState }> {
    const runs: object[] = [];
    const options = { ranIn: (run: object) => void runs.push(run) };
    const [open, closed, ...answers] = await Promise.all([
      this.#read(this.#key, link, options),
      this.#read(closedKey(this.#key, link.number), link, options),
      ...asks.map(([number, known]) => this.#read(closedKey(this.#key, number), known, options)),
    ]);
    const isOneInstant = runs.length === asks.length + 2 && runs.every((run) => run === runs[0]);
    const isThere = goesOn(link, open) || goesOn(link, closed);
    return { answers, state: isOneInstant ? (isThere ? "linked" : "gone") : "unknown" };
  }

  async #read(key: string, known: Read, options?: RunOptions): Promise<Answer> {
    return this.#checked(key, await this.#store.run(read, key, known, options));
  }

  #checked(key: string, answer: Answer): Answer {
    if (answer.status === STATUS.foreign) throw corruptError(key, `it is no journal of format ${law.format}`);
    return answer;
  }
}

/** The first page of a chunk and, where it goes on in the second, both. */
function joined(first: Answer, second: Answer): ClosedChunk | undefined {
  const { header, length, bytes } = first;
  if (!header) return undefined;
  const isOne = second.header?.birth === header.birth && second.length === length && second.from === bytes.length;
  if (!isOne || second.bytes.length === 0) return { header, length, bytes };
  return { header, length, bytes: concatenated([bytes, second.bytes]) };
}

function concatenated(pages: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pages.reduce((sum, page) => sum + page.length, 0));
  let at = 0;
  for (const page of pages) {
    all.set(page, at);
    at += page.length;
  }
  return all;
}
