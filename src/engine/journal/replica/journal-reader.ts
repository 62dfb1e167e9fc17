import * as layout from "../../../generated/layouts/journal.ts";
import type { Store } from "../../../store/contract.ts";
import { bytesPerEvent } from "../../stats/segments/segment.ts";
import { continuesFrom, FRAME_HEADER_BYTES, type JournalAnswer, type Known } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES, isPast, needsOlder } from "../format/chunk.ts";
import type { ClosedChunk, Lookback } from "../format/closed-chunks.ts";
import { countEvents } from "../format/frames.ts";
import { JournalRolledBack } from "../format/journal-rolled-back.ts";
import { SealedChunk } from "../sealed/sealed-chunk.ts";
import type { ReadRequest } from "../steps/read.ts";
import { type ChunkContent, ChunkReads, isSealedFormOf } from "./chunk-reads.ts";
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
