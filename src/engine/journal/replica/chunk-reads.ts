import { corruptError } from "../../../base/errors.ts";
import type { RunOptions, Store } from "../../../store/contract.ts";
import { continuesFrom, FRAME_HEADER_BYTES, type JournalAnswer, type Known, STATUS } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES } from "../format/chunk.ts";
import type { ClosedChunk, Lookback } from "../format/closed-chunks.ts";
import { constants } from "../format/constants.ts";
import { JournalRolledBack } from "../format/journal-rolled-back.ts";
import { SealedChunk } from "../sealed/sealed-chunk.ts";
import { DamagedChunk } from "../steps/corrupt.ts";
import { type ReadRequest, read } from "../steps/read.ts";
import { readWindow } from "../steps/read-window.ts";
import { closedKey } from "../steps/rotate.ts";

/** Pages of one chunk to read in one turn when its length is known. */
const MAX_PAGES_PER_TURN = 4;
const NO_FRAME = new Uint8Array(FRAME_HEADER_BYTES);

/** The chunks found in one turn, and whether the link was part of the journal at the same instant. */
export interface FoundChunks {
  /** The missing bytes of a held chunk, if requested. */
  rest: JournalAnswer | undefined;
  /** In ascending order. Undefined: no such chunk. */
  chunks: (ClosedChunk | undefined)[];
  isLinked: boolean;
}

/** The frames of a chunk, or its sealed form. */
export type ChunkContent = Uint8Array | SealedChunk;

/** State of the link at the instant of a turn; unknown if the turn was not one instant. */
type LinkState = "linked" | "gone" | "unknown";

/**
 * Reads chunks of one journal. Reads that belong together are made in one turn, so the store runs them as one script at one
 * instant.
 *
 * A turn over closed chunks also reads the link: the later chunk that their births must lead to, both as the open and as a
 * closed chunk. If it exists at the same instant, they are its predecessors, even if a failover happened since earlier reads.
 * Otherwise the link must be checked afterwards.
 */
export class ChunkReads {
  readonly #store: Store;
  readonly #key: string;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  open(known: ReadRequest): Promise<JournalAnswer> {
    return this.#read(this.#key, known);
  }

  /** For a reader without a copy: the open chunk, and the closed chunks of the lookback as far as they are found. */
  async window(lookback: Lookback): Promise<JournalAnswer> {
    return this.#checked(this.#key, await this.#store.run(readWindow, this.#key, lookback));
  }

  closed(number: number, known: ReadRequest): Promise<JournalAnswer> {
    return this.#read(closedKey(this.#key, number), known);
  }

  /**
   * Reads `count` closed chunks from number `first` on, and the missing bytes of `held`. Throws JournalRolledBack if `held` does
   * not continue, or the link is gone, and DamagedChunk if the header of a chunk has another number than its key.
   */
  async find(first: number, count: number, link: Known, held?: Known): Promise<FoundChunks> {
    const asks: [number, ReadRequest][] = held ? [[held.number, held]] : [];
    // Two pages are the whole of a chunk that was closed in time.
    const second = pageFrom(constants.pageBytes);
    for (let number = first; number < first + count; number++) asks.push([number, undefined], [number, second]);
    const { answers, state } = await this.#turn(asks, link);
    const rest = held && answers.shift();
    if (rest && !continuesFrom(held, rest) && !isSealedFormOf(held, rest))
      throw new JournalRolledBack(rest.header !== undefined);
    if (state === "gone") throw new JournalRolledBack();
    const chunks = Array.from({ length: count }, (_, i) => joined(answers[2 * i]!, answers[2 * i + 1]!));
    for (const [i, chunk] of chunks.entries())
      if (chunk && chunk.header.number !== first + i)
        throw new DamagedChunk(first + i, `has the number ${chunk.header.number} in its header`);
    return { rest, chunks, isLinked: state === "linked" };
  }

  /** Reads a whole closed chunk, raw or sealed. All pages must be of the same form. */
  async whole(chunk: ClosedChunk, link: Known): Promise<{ content: ChunkContent; isLinked: boolean }> {
    const { header, length } = chunk;
    const { number } = header;
    let { bytes } = chunk;
    let isLinked = true;
    while (bytes.length < length) {
      const asks: [number, ReadRequest][] = [];
      for (let at = bytes.length; at < length && asks.length < MAX_PAGES_PER_TURN; at += constants.pageBytes)
        asks.push([number, pageFrom(at)]);
      const turn = await this.#turn(asks, link);
      if (turn.state === "gone") throw new JournalRolledBack();
      isLinked &&= turn.state === "linked";
      for (const answer of turn.answers) if (!isPageOf(header, length, answer)) throw new JournalRolledBack();
      bytes = concatenated([bytes, ...turn.answers.map((answer) => answer.bytes)]);
    }
    const isSealed = header.format === constants.sealedFormat;
    return { content: isSealed ? SealedChunk.parse(bytes) : bytes.subarray(HEADER_BYTES), isLinked };
  }

  /** Whether a chunk, open or closed, is still part of the journal with all its known bytes. */
  async has(known: Known): Promise<boolean> {
    const answers = await Promise.all([this.open(known), this.closed(known.number, known)]);
    return answers.some((answer) => continuesFrom(known, answer));
  }

  async #turn(
    asks: readonly [number, ReadRequest][],
    link: Known,
  ): Promise<{ answers: JournalAnswer[]; state: LinkState }> {
    const runs: object[] = [];
    const options = { ranIn: (run: object) => void runs.push(run) };
    const [open, closed, ...answers] = await Promise.all([
      this.#read(this.#key, link, options),
      this.#read(closedKey(this.#key, link.number), link, options),
      ...asks.map(([number, known]) => this.#read(closedKey(this.#key, number), known, options)),
    ]);
    const isOneInstant = runs.length === asks.length + 2 && runs.every((run) => run === runs[0]);
    const isThere = continuesFrom(link, open) || continuesFrom(link, closed) || isSealedFormOf(link, closed);
    return { answers, state: isOneInstant ? (isThere ? "linked" : "gone") : "unknown" };
  }

  async #read(key: string, known: ReadRequest, options?: RunOptions): Promise<JournalAnswer> {
    return this.#checked(key, await this.#store.run(read, key, known, options));
  }

  #checked(key: string, answer: JournalAnswer): JournalAnswer {
    if (answer.status === STATUS.foreign)
      throw corruptError(key, `it is not a journal of format ${constants.format} or ${constants.sealedFormat}`);
    return answer;
  }
}

/** Requests the page of a closed chunk that begins at `at`, whatever its form. */
function pageFrom(at: number): Known {
  return { number: 0, birth: 0, length: at, place: 0, frame: NO_FRAME };
}

/** Whether an answer is a page of this chunk in this form. The forms of one chunk also differ in length. */
function isPageOf({ birth, format }: ChunkHeader, length: number, answer: JournalAnswer): boolean {
  const { header, bytes } = answer;
  return header?.birth === birth && header.format === format && answer.length === length && bytes.length > 0;
}

/** Whether the answer is the sealed form of the chunk that a caller has read in part, before it was sealed. */
export function isSealedFormOf({ number, birth }: Pick<Known, "number" | "birth">, { header }: JournalAnswer): boolean {
  return header?.format === constants.sealedFormat && header.number === number && header.birth === birth;
}

/** The first page of a chunk, joined with the second if it continues there. */
function joined(first: JournalAnswer, second: JournalAnswer): ClosedChunk | undefined {
  const { header, length, bytes } = first;
  if (!header) return undefined;
  if (!isPageOf(header, length, second) || second.from !== bytes.length) return { header, length, bytes };
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
