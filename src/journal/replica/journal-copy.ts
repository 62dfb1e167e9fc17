import type { Column } from "../../kernel/contract.ts";
import { bytesPerEvent, type Segment } from "../../stats/segments/segment.ts";
import { Segments } from "../../stats/segments/segments.ts";
import type { Closed } from "../../time.ts";
import { FRAME_HEADER_BYTES, type Known } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES } from "../format/chunk.ts";
import { Dedupe } from "../format/dedupe.ts";
import type { FrameRanges } from "../format/frame-ranges.ts";
import { type FrameParts, FrameValues, noParts, readFrame } from "../format/frames.ts";
import { law } from "../format/law.ts";
import { DamagedChunk } from "../steps/corrupt.ts";

/** What a chunk of a copy takes beside its events, however few: a segment, its columns, runs and blocks. */
const CHUNK_BYTES = 1800;
/** Of the bound of events: what they may take together with the names of their frames. */
const WITH_NAMES = 1.5;

/** A chunk as a reader holds it: its events, and the place from which its bytes go on. */
export interface CopiedChunk {
  header: ChunkHeader;
  /** Bytes taken in, the header among them: up to the end of a frame. */
  length: number;
  /** Where the last whole frame header lies; 0 when there is none yet. */
  place: number;
  frame: Uint8Array;
  events: Segments;
}

/**
 * The stretch of a journal that a process holds, oldest chunk first, every frame judged once, in journal order.
 * The names of the frames counted in its first `law.dedupeMs` are kept: when older chunks are put before it, one of
 * them may turn out to be a copy, and then the whole is read again.
 */
export class JournalCopy {
  chunks: CopiedChunk[] = [];
  /** True when the chunk before the first is known not to be there. */
  noOlder = false;
  #dedupe = new Dedupe();
  /** Of these frames, stamped from one time to before another, none was judged in the light of chunks before. */
  #headFrames = this.#dedupe.first;
  #headSinceMs = -Infinity;
  #headUntilMs = -Infinity;
  #list: readonly Segment[] = [];
  #version = 0;
  #changed = false;
  #tailVersion = 0;

  /** What goes on where a summary ends: of events and frames before it nothing is held but the names that matter yet. */
  static after(header: ChunkHeader, { length, place, frame }: Known, before: FrameRanges): JournalCopy {
    const copy = new JournalCopy();
    copy.#dedupe = new Dedupe(before);
    Object.assign(copy.begin(header), { length, place, frame });
    copy.noOlder = true;
    return copy;
  }

  /** Names of frames that one which is yet to come may be a copy of. */
  get lateFrames(): FrameRanges {
    return this.#dedupe.rangesAt(this.tail?.header.lastStampMs ?? Infinity);
  }

  get head(): CopiedChunk | undefined {
    return this.chunks[0];
  }

  get tail(): CopiedChunk | undefined {
    return this.chunks.at(-1);
  }

  get eventCount(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.events.count, 0);
  }

  /** What all of it takes in the heap, about, where events are of that type. */
  sizeBytesAs(valueType: number): number {
    return this.eventCount * bytesPerEvent(valueType) + this.chunks.length * CHUNK_BYTES + this.nameBytes;
  }

  /** Whether so many of its events are too many for a bound, or half as much again too little for them and the names of frames. */
  isBeyond(mostBytes: number, eventCount = this.eventCount, othersBytes = 0): boolean {
    const eventBytes = eventCount * bytesPerEvent(this.tail?.header.valueType ?? 0);
    return eventBytes > mostBytes || eventBytes + this.nameBytes + othersBytes > WITH_NAMES * mostBytes;
  }

  /** What the names of frames take in the heap, about. */
  get nameBytes(): number {
    let bytes = 0;
    for (const names of new Set([this.#headFrames, ...this.#dedupe.names])) bytes += names.sizeBytes;
    return bytes;
  }

  /** All that is held, oldest first, and a number that changes whenever that does or a segment is closed. */
  get segments(): { list: readonly Segment[]; version: number } {
    const tailVersion = this.tail?.events.version ?? 0;
    if (this.#changed || tailVersion !== this.#tailVersion) {
      this.#list = this.chunks.flatMap(({ events }) => events.list);
      this.#version++;
      this.#changed = false;
      this.#tailVersion = tailVersion;
    }
    return { list: this.#list, version: this.#version };
  }

  /** A copy of the values inside a window, in the order of the journal. */
  valuesInside(valueType: number, fromMs: number, toMs: number, closed: Closed): Column {
    const total = this.eventCount;
    const all = valueType === 1 ? new Float64Array(total) : new Float32Array(total);
    let at = 0;
    for (const segment of this.segments.list) at = segment.copyInside(all, at, fromMs, toMs, closed);
    return all.slice(0, at);
  }

  clear(): void {
    this.chunks = [];
    // Not only at the next question, which may never come.
    this.#list = [];
    this.#changed = true;
    this.noOlder = false;
    this.#dedupe = new Dedupe();
    this.#headFrames = this.#dedupe.first;
    this.#headSinceMs = -Infinity;
    this.#headUntilMs = -Infinity;
  }

  /** Begins the chunk after the last one held, which takes in no more. */
  begin(header: ChunkHeader): CopiedChunk {
    if (this.chunks.length === 0) this.#headUntilMs = header.createdMs + law.dedupeMs;
    this.tail?.events.close();
    this.#changed = true;
    const chunk = {
      header,
      length: HEADER_BYTES,
      place: 0,
      frame: new Uint8Array(FRAME_HEADER_BYTES),
      events: new Segments(header.valueType),
    };
    this.chunks.push(chunk);
    return chunk;
  }

  /**
   * Takes in the next bytes of the last chunk, as far as they are whole frames: a frame that a page cut off is read
   * again, for what was read of it might be rolled back meanwhile.
   */
  take(bytes: Uint8Array): void {
    const chunk = this.tail!;
    const source = new FrameValues(bytes, chunk.header.valueType);
    const { view } = source;
    const parts = noParts();
    let at = 0;
    let last = -1;
    for (;;) {
      const found = readFrame(view, at, chunk.header.valueType, parts);
      if (found === "cut") break;
      if (found === "foreign") throw corrupt(chunk, at, "holds no frame");
      this.#judge(chunk, source, parts);
      last = at;
      at += parts.size;
    }
    if (last >= 0) {
      chunk.place = chunk.length + last;
      // A copy: a Buffer's slice would hold the whole reply.
      chunk.frame = new Uint8Array(bytes.subarray(last, last + FRAME_HEADER_BYTES));
    } else if (bytes.length > 0) throw corrupt(chunk, 0, "ends within a frame");
    chunk.length += at;
  }

  #judge(chunk: CopiedChunk, source: FrameValues, parts: FrameParts): void {
    const stampMs = chunk.header.createdMs + parts.sinceCreationMs;
    // As i32, which engines keep in place; large u32 would be objects.
    if (!this.#dedupe.admit(parts.producer | 0, parts.sequence | 0, stampMs)) return;
    source.store(chunk.events, parts, stampMs);
  }

  /** Puts an older stretch before this one; false, and nothing done, when a frame held here is a copy of one in it. */
  prepend(older: JournalCopy): boolean {
    if (this.#headFrames.some((...frame) => this.#isHead(frame[2]) && older.#dedupe.holds(...frame))) return false;
    if (older.chunks.length === 0) return true;
    older.tail!.events.close();
    this.#changed = true;
    this.chunks.unshift(...older.chunks);
    this.#dedupe.continue(older.#dedupe);
    this.#headFrames = older.#headFrames;
    this.#headSinceMs = older.#headSinceMs;
    this.#headUntilMs = older.#headUntilMs;
    return true;
  }

  #isHead(stampMs: number): boolean {
    return stampMs >= this.#headSinceMs && stampMs < this.#headUntilMs;
  }

  /** Lets go of the oldest chunk, but not of what is yet to be judged in the light of chunks before it. */
  dropHead(): void {
    this.chunks.shift();
    this.#changed = true;
    this.noOlder = false;
    this.#headSinceMs = this.head?.header.createdMs ?? Infinity;
  }

  /** What the next call names of a chunk held. */
  knownOf(chunk: CopiedChunk): Known {
    const { number, birth } = chunk.header;
    return { number, birth, length: chunk.length, place: chunk.place, frame: chunk.frame };
  }
}

function corrupt(chunk: CopiedChunk, at: number, what: string): DamagedChunk {
  return new DamagedChunk(chunk.header.number, `${what} at byte ${chunk.length + at}`);
}
