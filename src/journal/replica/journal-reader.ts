import { bytesPerEvent } from "../../stats/segments/segment.ts";
import type { Store } from "../../store/contract.ts";
import { type Answer, FRAME_HEADER_BYTES, goesOn, type Known } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES, isPast, needsOlder } from "../format/chunk.ts";
import { countEvents } from "../format/frames.ts";
import type { ClosedChunk, Reach } from "../format/older.ts";
import { Rolled } from "../format/rolled.ts";
import type { Read } from "../steps/read.ts";
import { ChunkReads } from "./chunk-reads.ts";
import { JournalCopy } from "./journal-copy.ts";

/** The window holds more than the copy may: more events, or more names of frames. */
export class TooMany extends Error {}

/** Chunks asked for at once: so many, and so many bytes as the last one lets expect. */
const MOST_ABREAST = 16;
const BYTES_ABREAST = 8 << 20;
/** An f32. */
const LEAST_EVENT_BYTES = 4;

function abreast(chunkBytes: number): number {
  return Math.max(1, Math.min(MOST_ABREAST, Math.floor(BYTES_ABREAST / chunkBytes)));
}

interface RawChunk {
  header: ChunkHeader;
  frames: Uint8Array;
}

/**
 * Brings a copy up to an answer's cut (its chunk, length and now) and back to a given time, reading only what is
 * missing. Throws Rolled where the journal does not fit together.
 *
 *   nothing held ....................... the cut is all: the closed chunks in reach came with it
 *   not all of them found .............. one turn more: the rest by name and, at the same instant, the cut's
 *   chunks were closed since ........... one turn more: the rest of the last one held, those after it, and the cut's
 *
 * A turn more for every 8 MiB or 16 chunks, for chunks of several pages, and one that looks again at the end where the
 * store cannot tell that a turn was of one instant.
 */
export class JournalReader {
  readonly #reads: ChunkReads;

  constructor(store: Store, key: string) {
    this.#reads = new ChunkReads(store, key);
  }

  /** `reach`: what is wanted of closed chunks, where nothing is known. */
  open(known: Read, reach?: Reach): Promise<Answer> {
    return known === undefined && reach ? this.#reads.cold(reach) : this.#reads.open(known);
  }

  /** Only the header. */
  closed(number: number): Promise<Answer> {
    return this.#reads.closed(number, "header");
  }

  /**
   * `cut` is the answer of an append or read that was told what `copy` holds; it is used up, also by a failure.
   * TooMany before much more than `mostBytes` allow (see `isBeyond`) is taken in for the window.
   */
  async follow(copy: JournalCopy, cut: Answer, fromMs: number, mostBytes: number): Promise<void> {
    const { header } = cut;
    if (!header) {
      copy.clear();
      return;
    }
    if (copy.tail && header.number > copy.tail.header.number && isPast(copy.tail.header, fromMs)) copy.clear();
    const { tail } = copy;
    let isLinked = true;
    if (!tail) {
      isLinked = await this.#prepend(copy, cut.length, header, linkOf(cut), fromMs, mostBytes, cut);
      this.#begin(copy, cut);
    } else if (goesOn(tail.header, cut)) {
      tail.header = header;
      copy.take(cut.bytes);
    } else if (header.number > tail.header.number) isLinked = await this.#chain(copy, cut, mostBytes);
    else throw new Rolled(true);
    // What is filled in goes on from the last frame held, and so links it.
    if (await this.#fill(copy, true, cut.length)) isLinked = true;
    if (!copy.noOlder && needsOlder(copy.head!.header, fromMs)) {
      const older = new JournalCopy();
      const { length, header: first } = copy.head!;
      const roomBytes = mostBytes - copy.eventCount * bytesPerEvent(first.valueType);
      isLinked = (await this.#prepend(older, length, first, copy.knownOf(copy.tail!), fromMs, roomBytes)) && isLinked;
      if (!copy.prepend(older)) throw new Rolled();
      copy.noOlder = older.noOlder;
    }
    if (!isLinked && !(await this.#reads.has(copy.knownOf(copy.tail!)))) throw new Rolled();
  }

  #begin(copy: JournalCopy, answer: Answer): void {
    copy.begin(answer.header!);
    copy.take(answer.bytes.subarray(HEADER_BYTES - answer.from, answer.length - answer.from));
  }

  /** Reads the rest of the last chunk held, those closed since, and the open one; their births must link. */
  async #chain(copy: JournalCopy, cut: Answer, mostBytes: number): Promise<boolean> {
    const tail = copy.tail!;
    let taken = 0;
    const { number, birthBefore } = cut.header!;
    const link = linkOf(cut);
    let isLinked = true;
    let next = tail.header.number + 1;
    for (let held: Known | undefined = copy.knownOf(tail); held || next < number; held = undefined) {
      const count = Math.min(abreast(copy.tail!.length), number - next);
      const found = await this.#reads.find(next, count, link, held);
      isLinked &&= found.isLinked;
      if (found.rest) {
        tail.header = found.rest.header!;
        copy.take(found.rest.bytes);
        if (await this.#fill(copy, false, found.rest.length)) isLinked = false;
      }
      for (const chunk of found.chunks) {
        if (chunk?.header.birthBefore !== copy.tail!.header.birth) throw new Rolled();
        const whole = await this.#reads.frames(chunk, link);
        isLinked &&= whole.isLinked;
        copy.begin(chunk.header);
        copy.take(whole.frames);
        if (await this.#fill(copy, false, chunk.length)) isLinked = false;
        taken += copy.tail!.events.count;
        // The window begins before the last chunk held ends: it needs all that follow.
        if (copy.isBeyond(mostBytes, taken)) throw new TooMany();
      }
      next += count;
    }
    if (birthBefore !== copy.tail!.header.birth) throw new Rolled();
    this.#begin(copy, cut);
    return isLinked;
  }

  /**
   * Takes in the older chunks that a window from `fromMs` needs, up to the one before `first`, which has `length` bytes:
   * those that came with the cut, which needs no link for them, then by name what is lacking yet.
   * Whether they were found together with the link.
   */
  async #prepend(
    copy: JournalCopy,
    length: number,
    first: ChunkHeader,
    link: Known,
    fromMs: number,
    mostBytes: number,
    cut?: Answer,
  ): Promise<boolean> {
    const older: RawChunk[] = [];
    let oldest = first;
    const uncounted: Uint8Array[] = [];
    let room = Math.floor(mostBytes / bytesPerEvent(first.valueType));
    let isLinked = true;
    const take = async (chunk: ClosedChunk) => {
      const { frames, isLinked: isWhole } = await this.#reads.frames(chunk, link);
      isLinked &&= isWhole;
      older.push({ header: chunk.header, frames });
      uncounted.push(frames);
      // A walk over all frames: only where they may be too many.
      if (uncounted.reduce((sum, { length }) => sum + length, 0) > LEAST_EVENT_BYTES * room) {
        for (const each of uncounted.splice(0)) room -= countEvents(each, first.valueType);
        if (room < 0) throw new TooMany();
      }
      oldest = chunk.header;
    };
    for (const chunk of cut?.older?.linkedTo(first, fromMs) ?? []) await take(chunk);
    let missing = needsOlder(oldest, fromMs) && cut?.older?.isOver(oldest, cut.nowMs) === true;
    while (!missing && needsOlder(oldest, fromMs)) {
      const count = abreast(older.at(-1)?.frames.length ?? length);
      const found = await this.#reads.find(oldest.number - count, count, link);
      isLinked &&= found.isLinked;
      for (const chunk of found.chunks.reverse()) {
        if (!needsOlder(oldest, fromMs)) break;
        missing = chunk === undefined;
        if (!chunk) break;
        if (chunk.header.birth !== oldest.birthBefore) throw new Rolled();
        await take(chunk);
      }
    }
    let leftBytes = older.reduce((sum, { frames }) => sum + frames.length, 0);
    for (let chunk = older.pop(); chunk; chunk = older.pop()) {
      copy.begin(chunk.header);
      copy.take(chunk.frames);
      leftBytes -= chunk.frames.length;
      if (copy.isBeyond(mostBytes, undefined, leftBytes)) throw new TooMany();
    }
    copy.noOlder = missing;
    return isLinked;
  }

  /**
   * Reads on in the last chunk held until `length`, under its closed name if it was rotated meanwhile; false when it
   * lacked nothing.
   */
  async #fill(copy: JournalCopy, isOpen: boolean, length: number): Promise<boolean> {
    const chunk = copy.tail!;
    const { number } = chunk.header;
    if (chunk.length >= length) return false;
    let isThere = isOpen;
    while (chunk.length < length) {
      const known = copy.knownOf(chunk);
      const answer = await (isThere ? this.#reads.open(known) : this.#reads.closed(number, known));
      if (goesOn(chunk.header, answer) && answer.bytes.length > 0)
        copy.take(answer.bytes.subarray(0, length - chunk.length));
      else if (isThere) isThere = false;
      else throw new Rolled();
    }
    return true;
  }
}

/** The cut's chunk, as far as the cut tells of it. */
function linkOf({ header, length }: Answer): Known {
  const { number, birth } = header!;
  return { number, birth, length, place: 0, frame: new Uint8Array(FRAME_HEADER_BYTES) };
}
