import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { type Answer, FRAME_HEADER_BYTES, STATUS } from "./answer.ts";
import { type ChunkHeader, HEADER_BYTES } from "./chunk.ts";
import { countEvents } from "./frames.ts";
import { type CopiedChunk, goesOn, JournalCopy } from "./journal-copy.ts";
import { law } from "./law.ts";
import { type Read, read } from "./read.ts";
import { closedKey } from "./rotate.ts";

/** The journal is not what the copy was made of (failover, restore, delete): the copy goes, and is read again. */
export class Rolled extends Error {
  /** True when what the copy holds was there and no longer is; else it may have been deleted. */
  readonly isLoss: boolean;

  constructor(isLoss = false) {
    super();
    this.isLoss = isLoss;
  }
}

/** The window holds more events than the copy may. */
export class TooMany extends Error {}

/** Chunks asked for at once: so many, and so many bytes as the last one lets expect. */
const MOST_ABREAST = 16;
const BYTES_ABREAST = 4 << 20;

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
 */
export class JournalReader {
  readonly #store: Store;
  readonly #key: string;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  open(known: Read): Promise<Answer> {
    return this.#read(this.#key, known);
  }

  /** Only the header. */
  closed(number: number): Promise<Answer> {
    return this.#read(closedKey(this.#key, number), "header");
  }

  /**
   * `cut` is the answer of an append or read that was told what `copy` holds; it is used up, also by a failure.
   * TooMany before more than `mostEvents` are taken in for the window.
   */
  async follow(copy: JournalCopy, cut: Answer, fromMs: number, mostEvents: number): Promise<void> {
    const { header } = cut;
    if (!header) {
      copy.clear();
      return;
    }
    if (copy.tail && header.number > copy.tail.header.number && isPast(copy.tail.header, fromMs)) copy.clear();
    const { tail } = copy;
    let ofOneInstant = cut.from + cut.bytes.length >= cut.length;
    if (!tail) {
      ofOneInstant &&= !needsOlder(header, fromMs);
      await this.#prepend(copy, cut.length, header, fromMs, mostEvents);
      this.#begin(copy, cut);
      await this.#fill(copy, true, cut.length);
    } else if (goesOn(tail, cut)) {
      tail.header = header;
      copy.take(cut.bytes);
      await this.#fill(copy, true, cut.length);
    } else if (header.number > tail.header.number) {
      ofOneInstant = false;
      await this.#chain(copy, cut);
    } else throw new Rolled(true);
    if (!this.#covers(copy, fromMs)) {
      ofOneInstant = false;
      const older = new JournalCopy();
      await this.#prepend(older, copy.head!.length, copy.head!.header, fromMs, mostEvents - copy.eventCount);
      if (!copy.prepend(older)) throw new Rolled();
      copy.noOlder = older.noOlder;
    }
    if (!ofOneInstant) await this.#stillLinked(copy, copy.tail!);
  }

  #covers(copy: JournalCopy, fromMs: number): boolean {
    return copy.noOlder || !needsOlder(copy.head!.header, fromMs);
  }

  #begin(copy: JournalCopy, answer: Answer): void {
    copy.begin(answer.header!);
    copy.take(answer.bytes.subarray(HEADER_BYTES - answer.from, answer.length - answer.from));
  }

  /** Reads the rest of the last chunk held, those closed since, and the open one; their births must link. */
  async #chain(copy: JournalCopy, cut: Answer): Promise<void> {
    const tail = copy.tail!;
    const rest = await this.#read(closedKey(this.#key, tail.header.number), copy.knownOf(tail));
    if (!goesOn(tail, rest)) throw new Rolled(rest.header !== undefined);
    tail.header = rest.header!;
    copy.take(rest.bytes);
    await this.#fill(copy, false, rest.length);
    for (let next = tail.header.number + 1, count: number; next < cut.header!.number; next += count) {
      count = Math.min(abreast(copy.tail!.length), cut.header!.number - next);
      for (const answer of await this.#closed(next, count)) {
        if (answer.header?.birthBefore !== copy.tail!.header.birth) throw new Rolled();
        this.#begin(copy, answer);
        await this.#fill(copy, false, answer.length);
      }
    }
    if (cut.header!.birthBefore !== copy.tail!.header.birth) throw new Rolled();
    this.#begin(copy, cut);
    await this.#fill(copy, true, cut.length);
  }

  /** Takes in the older chunks that a window from `fromMs` needs, up to the one before `first`, which has `length` bytes. */
  async #prepend(
    copy: JournalCopy,
    length: number,
    first: ChunkHeader,
    fromMs: number,
    mostEvents: number,
  ): Promise<void> {
    const found: RawChunk[] = [];
    let oldest = first;
    let room = mostEvents;
    let missing = false;
    while (!missing && needsOlder(oldest, fromMs)) {
      const count = abreast(found.at(-1)?.frames.length ?? length);
      for (const answer of (await this.#closed(oldest.number - count, count)).reverse()) {
        if (!needsOlder(oldest, fromMs)) break;
        missing = answer.header === undefined;
        if (missing) break;
        if (answer.header!.birth !== oldest.birthBefore) throw new Rolled();
        const frames = await this.#frames(answer);
        found.push({ header: answer.header!, frames });
        room -= countEvents(frames, first.valueType);
        if (room < 0) throw new TooMany();
        oldest = answer.header!;
      }
    }
    for (const { header, frames } of found.reverse()) {
      copy.begin(header);
      copy.take(frames);
    }
    copy.noOlder = missing;
  }

  /** All bytes of a closed chunk after its header; `first` is its first page. */
  async #frames(first: Answer): Promise<Uint8Array> {
    if (first.bytes.length >= first.length) return first.bytes.subarray(HEADER_BYTES);
    const { number, birth } = first.header!;
    const bytes = new Uint8Array(first.length);
    bytes.set(first.bytes);
    for (let length = first.bytes.length; length < first.length; ) {
      const known = { number, birth, length, place: 0, frame: new Uint8Array(FRAME_HEADER_BYTES) };
      const answer = await this.#read(closedKey(this.#key, number), known);
      if (!answer.continued || answer.bytes.length === 0 || answer.length !== first.length) throw new Rolled();
      bytes.set(answer.bytes, length);
      length += answer.bytes.length;
    }
    return bytes.subarray(HEADER_BYTES);
  }

  /** Reads on in the last chunk held until `length`, under its closed name if it was rotated meanwhile. */
  async #fill(copy: JournalCopy, isOpen: boolean, length: number): Promise<void> {
    const chunk = copy.tail!;
    let key = isOpen ? this.#key : closedKey(this.#key, chunk.header.number);
    while (chunk.length < length) {
      const answer = await this.#read(key, copy.knownOf(chunk));
      if (goesOn(chunk, answer) && answer.bytes.length > 0) copy.take(answer.bytes.subarray(0, length - chunk.length));
      else if (key === this.#key) key = closedKey(this.#key, chunk.header.number);
      else throw new Rolled();
    }
  }

  /** After several reads: what the last chunk holds must still be the journal's, open or closed, or time was rolled back between them. */
  async #stillLinked(copy: JournalCopy, tail: CopiedChunk): Promise<void> {
    const known = copy.knownOf(tail);
    const now = await this.#read(this.#key, known);
    if (goesOn(tail, now)) return;
    if (now.header && now.header.number > tail.header.number) {
      const closed = await this.#read(closedKey(this.#key, tail.header.number), known);
      if (goesOn(tail, closed)) return;
    }
    throw new Rolled();
  }

  #closed(first: number, count: number): Promise<Answer[]> {
    return Promise.all(Array.from({ length: count }, (_, i) => this.#read(closedKey(this.#key, first + i), undefined)));
  }

  async #read(key: string, known: Read): Promise<Answer> {
    const answer = await this.#store.run(read, key, known);
    if (answer.status === STATUS.foreign)
      throw new OrielError("CORRUPT", `${key} holds no journal of format ${law.format}`);
    return answer;
  }
}

/** Whether nothing that was in the chunk when it was last seen, nor before it, is inside a window from `fromMs`. */
function isPast(header: ChunkHeader, fromMs: number): boolean {
  const reachMs = header.clock === 1 ? header.latestMs : header.lastStampMs + law.earlyMs;
  return reachMs < fromMs - law.dedupeMs;
}

/**
 * Whether a window from `fromMs` may need the chunk before this one. Server clock: an event may be dated up to
 * `earlyMs` after its stamp, and copies of a frame may follow it within `dedupeMs`. Event clock: no event before
 * this chunk is later than the latest in it.
 */
export function needsOlder(header: ChunkHeader, fromMs: number): boolean {
  if (header.birthBefore === 0) return false;
  const reachMs = header.clock === 1 ? header.latestMs : header.createdMs + law.earlyMs;
  return reachMs >= fromMs - law.dedupeMs;
}
