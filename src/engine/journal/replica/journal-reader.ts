import { corruptError } from "../../../base/errors.ts";
import * as layout from "../../../generated/layouts/journal.ts";
import type { RunOptions, Store } from "../../../store/contract.ts";
import { bytesPerEvent } from "../../stats/segments/segment.ts";
import { continuesFrom, FRAME_HEADER_BYTES, type JournalAnswer, type Known, STATUS } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES, isPast, needsOlder } from "../format/chunk.ts";
import type { ClosedChunk, Lookback } from "../format/closed-chunks.ts";
import { constants } from "../format/constants.ts";
import { countEvents } from "../format/frames.ts";
import { JournalRolledBack } from "../format/journal-rolled-back.ts";
import { SealedChunk } from "../sealed/sealed-chunk.ts";
import { DamagedChunk } from "../steps/corrupt.ts";
import { type ReadRequest, read } from "../steps/read.ts";
import { readWindow } from "../steps/read-window.ts";
import { closedKey } from "../steps/rotate.ts";
import { type CopiedChunk, JournalCopy } from "./journal-copy.ts";

/** Thrown if a window has more events or names of frames than a copy may have. */
export class WindowTooLarge extends Error {}

/** Bounds of one turn: chunks, and their expected bytes. */
const MAX_CHUNKS_PER_TURN = 16;
const MAX_BYTES_PER_TURN = 8 << 20;
/** Size of an f32. */
const MIN_EVENT_BYTES = 4;

function chunksPerTurn(chunkBytes: number): number {
  return Math.max(1, Math.min(MAX_CHUNKS_PER_TURN, Math.floor(MAX_BYTES_PER_TURN / chunkBytes)));
}

interface FoundChunk {
  header: ChunkHeader;
  content: ChunkContent;
}

/**
 * Extends a copy forward to an answer's state (its chunk, length and time) and back to a given time. Reads only missing bytes.
 * Throws JournalRolledBack if the chunks do not fit together.
 *
 *   without a copy               │ no further request: the closed chunks of the lookback came with the answer
 *   some of them were not found  │ one more turn: the rest by name and, at the same instant, the answer's chunk
 *   chunks were closed since     │ one more turn: the rest of the last chunk, those after it, and the answer's chunk
 *
 * There is one more turn for each 8 MiB or 16 chunks, for chunks of several pages, and a check at the end if the store cannot
 * say that a turn was one instant.
 */
export class JournalReader {
  readonly #reads: ChunkReads;

  constructor(store: Store, key: string) {
    this.#reads = new ChunkReads(store, key);
  }

  /** `lookback`: the closed chunks to return if nothing is known. */
  open(known: ReadRequest, lookback?: Lookback): Promise<JournalAnswer> {
    return known === undefined && lookback ? this.#reads.window(lookback) : this.#reads.open(known);
  }

  /** Reads only the header. */
  closed(number: number): Promise<JournalAnswer> {
    return this.#reads.closed(number, "header");
  }

  /**
   * `cut` is the answer of an append or read that named the known part of `copy`. It is consumed, even by a failure. Throws
   * WindowTooLarge before the copy exceeds `maxBytes` by much (see `exceeds`).
   */
  async follow(copy: JournalCopy, cut: JournalAnswer, fromMs: number, maxBytes: number): Promise<void> {
    const { header } = cut;
    if (!header) {
      copy.clear();
      return;
    }
    if (copy.tail && header.number > copy.tail.header.number && isPast(copy.tail.header, fromMs)) copy.clear();
    const { tail } = copy;
    let isLinked = true;
    if (!tail) {
      isLinked = await this.#prepend(copy, cut.length, header, linkOf(cut), fromMs, maxBytes, cut);
      this.#begin(copy, cut);
    } else if (continuesFrom(tail.header, cut)) {
      tail.header = header;
      copy.take(cut.bytes);
    } else if (header.number > tail.header.number) isLinked = await this.#chain(copy, cut, maxBytes);
    else throw new JournalRolledBack(true);
    // Bytes that continue the last frame of the copy prove the link.
    if (await this.#fill(copy, true, cut.length)) {
      isLinked = true;
      // At the cut the last frame had this stamp. Another one was written after a failover took frames of the cut back.
      if (stampOfLast(copy.tail!) !== header.lastStampMs) throw new JournalRolledBack(true);
    }
    if (!copy.isFirstKnown && needsOlder(copy.head!.header, fromMs)) {
      const older = new JournalCopy();
      const { length, header: first } = copy.head!;
      const roomBytes = maxBytes - copy.eventBytes;
      isLinked = (await this.#prepend(older, length, first, copy.knownOf(copy.tail!), fromMs, roomBytes)) && isLinked;
      if (!copy.prepend(older)) throw new JournalRolledBack();
      copy.isFirstKnown = older.isFirstKnown;
    }
    if (!isLinked && !(await this.#reads.has(copy.knownOf(copy.tail!)))) throw new JournalRolledBack();
  }

  #begin(copy: JournalCopy, answer: JournalAnswer): void {
    copy.begin(answer.header!);
    copy.take(answer.bytes.subarray(HEADER_BYTES - answer.from, answer.length - answer.from));
  }

  /** Reads the rest of the last chunk, the chunks closed since, and the open one. Their births must form a chain. */
  async #chain(copy: JournalCopy, cut: JournalAnswer, maxBytes: number): Promise<boolean> {
    const tail = copy.tail!;
    let taken = 0;
    const { number, birthBefore } = cut.header!;
    const link = linkOf(cut);
    let isLinked = true;
    let next = tail.header.number + 1;
    for (let held: Known | undefined = copy.knownOf(tail); held || next < number; held = undefined) {
      const count = Math.min(chunksPerTurn(copy.tail!.length), number - next);
      const found = await this.#reads.find(next, count, link, held);
      isLinked &&= found.isLinked;
      if (found.rest && !(await this.#takeRest(copy, found.rest, link))) isLinked = false;
      for (const chunk of found.chunks) {
        if (chunk?.header.birthBefore !== copy.tail!.header.birth) throw new JournalRolledBack();
        const whole = await this.#reads.whole(chunk, link);
        isLinked &&= whole.isLinked;
        if (whole.content instanceof SealedChunk && copy.exceeds(maxBytes, taken + whole.content.count))
          throw new WindowTooLarge();
        takeChunk(copy, chunk.header, whole.content);
        if (whole.content instanceof Uint8Array && (await this.#fill(copy, false, chunk.length))) isLinked = false;
        taken += copy.tail!.events.count;
        // The window begins before the end of the last chunk, so it needs all chunks that follow.
        if (copy.exceeds(maxBytes, taken)) throw new WindowTooLarge();
      }
      next += count;
    }
    if (birthBefore !== copy.tail!.header.birth) throw new JournalRolledBack();
    this.#begin(copy, cut);
    return isLinked;
  }

  /** Adds the rest of the last chunk, which is closed. Returns whether it was found together with the link. */
  async #takeRest(copy: JournalCopy, rest: JournalAnswer, link: Known): Promise<boolean> {
    const { header, length, bytes, continued } = rest;
    const isSealed = isSealedFormOf(copy.tail!.header, rest);
    if (!isSealed || continued) copy.tail!.header = header!;
    if (isSealed && continued) return true;
    if (isSealed) {
      const { content, isLinked } = await this.#reads.whole({ header: header!, length, bytes }, link);
      copy.takeSealed(content as SealedChunk);
      return isLinked;
    }
    copy.take(bytes);
    return !(await this.#fill(copy, false, length));
  }

  /**
   * Adds the chunks before `first` (of `length` bytes) that a window from `fromMs` needs: first those that came with the answer,
   * which need no link, then the missing ones by name. Returns whether they were found together with the link.
   */
  async #prepend(
    copy: JournalCopy,
    length: number,
    first: ChunkHeader,
    link: Known,
    fromMs: number,
    maxBytes: number,
    cut?: JournalAnswer,
  ): Promise<boolean> {
    const older: FoundChunk[] = [];
    let oldest = first;
    const uncounted: Uint8Array[] = [];
    let room = Math.floor(maxBytes / bytesPerEvent(first.valueType));
    let isLinked = true;
    const take = async (chunk: ClosedChunk) => {
      const { content, isLinked: isWhole } = await this.#reads.whole(chunk, link);
      isLinked &&= isWhole;
      older.push({ header: chunk.header, content });
      if (content instanceof Uint8Array) uncounted.push(content);
      else room -= content.count;
      // Counts all frames, but only if they may be too many.
      if (uncounted.reduce((sum, { length }) => sum + length, 0) > MIN_EVENT_BYTES * room)
        for (const each of uncounted.splice(0)) room -= countEvents(each, first.valueType);
      if (room < 0) throw new WindowTooLarge();
      oldest = chunk.header;
    };
    for (const chunk of cut?.closedChunks?.linkedTo(first, fromMs) ?? []) await take(chunk);
    let missing = needsOlder(oldest, fromMs) && cut?.closedChunks?.isOver(oldest, cut.nowMs) === true;
    while (!missing && needsOlder(oldest, fromMs)) {
      const count = chunksPerTurn(sizeOf(older.at(-1)) ?? length);
      const found = await this.#reads.find(oldest.number - count, count, link);
      isLinked &&= found.isLinked;
      for (const chunk of found.chunks.reverse()) {
        if (!needsOlder(oldest, fromMs)) break;
        missing = chunk === undefined;
        if (!chunk) break;
        if (chunk.header.birth !== oldest.birthBefore) throw new JournalRolledBack();
        await take(chunk);
      }
    }
    let leftBytes = older.reduce((sum, chunk) => sum + sizeOf(chunk)!, 0);
    for (let chunk = older.pop(); chunk; chunk = older.pop()) {
      takeChunk(copy, chunk.header, chunk.content);
      leftBytes -= sizeOf(chunk)!;
      if (copy.exceeds(maxBytes, undefined, leftBytes)) throw new WindowTooLarge();
    }
    copy.isFirstKnown = missing;
    return isLinked;
  }

  /**
   * Reads the last chunk of the copy up to `length`, under its closed name if it was rotated since. Returns false if no bytes
   * were missing.
   */
  async #fill(copy: JournalCopy, isOpen: boolean, length: number): Promise<boolean> {
    const chunk = copy.tail!;
    const { number } = chunk.header;
    if (chunk.length >= length) return false;
    let isThere = isOpen;
    while (chunk.length < length) {
      const known = copy.knownOf(chunk);
      const answer = await (isThere ? this.#reads.open(known) : this.#reads.closed(number, known));
      if (continuesFrom(chunk.header, answer) && answer.bytes.length > 0)
        copy.take(answer.bytes.subarray(0, length - chunk.length));
      else if (isThere) isThere = false;
      else throw new JournalRolledBack();
    }
    return true;
  }
}

function takeChunk(copy: JournalCopy, header: ChunkHeader, content: ChunkContent): void {
  copy.begin(header);
  if (content instanceof SealedChunk) copy.takeSealed(content);
  else copy.take(content);
}

function stampOfLast({ header, frame }: CopiedChunk): number {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  return header.createdMs + view.getUint32(layout.FRAME_SINCE_CREATION_MS_AT, true);
}

function sizeOf(chunk: FoundChunk | undefined): number | undefined {
  const { content } = chunk ?? {};
  return content instanceof SealedChunk ? content.sizeBytes : content?.length;
}

/** The chunk of an answer as a link. */
function linkOf({ header, length }: JournalAnswer): Known {
  const { number, birth } = header!;
  return { number, birth, length, place: 0, frame: new Uint8Array(FRAME_HEADER_BYTES) };
}

/** Pages of one chunk to read in one turn when its length is known. */
const MAX_PAGES_PER_TURN = 4;
const NO_FRAME = new Uint8Array(FRAME_HEADER_BYTES);

/** The chunks found in one turn, and whether the link was part of the journal at the same instant. */
interface FoundChunks {
  /** The missing bytes of a held chunk, if requested. */
  rest: JournalAnswer | undefined;
  /** In ascending order. Undefined: no such chunk. */
  chunks: (ClosedChunk | undefined)[];
  isLinked: boolean;
}

/** The frames of a chunk, or its sealed form. */
type ChunkContent = Uint8Array | SealedChunk;

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
class ChunkReads {
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
function isSealedFormOf({ number, birth }: Pick<Known, "number" | "birth">, { header }: JournalAnswer): boolean {
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
