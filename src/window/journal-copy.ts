import { OrielError } from "../errors.ts";
import type { Column } from "../kernel/contract.ts";
import { FRAME_HEADER_BYTES, type Known } from "./answer.ts";
import { type ChunkHeader, HEADER_BYTES } from "./chunk.ts";
import { Dedupe } from "./dedupe.ts";
import { type FrameParts, noParts, readFrame } from "./frames.ts";
import { law } from "./law.ts";
import { MOST_IN_SEGMENT, type Segment } from "./segment.ts";
import { Segments } from "./segments.ts";

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

interface FrameName {
  producer: number;
  sequence: number;
  stampMs: number;
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
  #headFrames: FrameName[] = [];
  #headUntilMs = -Infinity;
  #list: readonly Segment[] = [];
  #version = 0;
  #changed = false;
  #tailVersion = 0;

  get head(): CopiedChunk | undefined {
    return this.chunks[0];
  }

  get tail(): CopiedChunk | undefined {
    return this.chunks.at(-1);
  }

  get eventCount(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.events.count, 0);
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

  clear(): void {
    this.chunks = [];
    // Not only at the next question, which may never come.
    this.#list = [];
    this.#changed = true;
    this.noOlder = false;
    this.#dedupe = new Dedupe();
    this.#headFrames = [];
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
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const parts = noParts();
    let at = 0;
    let last = -1;
    for (;;) {
      const found = readFrame(view, at, chunk.header.valueType, parts);
      if (found === "cut") break;
      if (found === "foreign") throw corrupt(chunk, at, "holds no frame");
      this.#judge(chunk, view, parts);
      last = at;
      at += parts.size;
    }
    if (last >= 0) {
      chunk.place = chunk.length + last;
      chunk.frame = bytes.slice(last, last + FRAME_HEADER_BYTES);
    } else if (bytes.length > 0) throw corrupt(chunk, 0, "ends within a frame");
    chunk.length += at;
  }

  #judge(chunk: CopiedChunk, view: DataView, parts: FrameParts): void {
    const stampMs = chunk.header.createdMs + parts.sinceCreationMs;
    if (!this.#dedupe.admit(parts.producer, parts.sequence, stampMs)) return;
    if (stampMs < this.#headUntilMs)
      this.#headFrames.push({ producer: parts.producer, sequence: parts.sequence, stampMs });
    store(chunk.events, view, parts, stampMs);
  }

  /** Puts an older stretch before this one; false, and nothing done, when a frame held here is a copy of one in it. */
  prepend(older: JournalCopy): boolean {
    if (this.#headFrames.some((f) => older.#dedupe.holds(f.producer, f.sequence, f.stampMs))) return false;
    if (older.chunks.length === 0) return true;
    older.tail!.events.close();
    this.#changed = true;
    this.chunks.unshift(...older.chunks);
    this.#dedupe.continue(older.#dedupe);
    this.#headFrames = older.#headFrames;
    this.#headUntilMs = older.#headUntilMs;
    return true;
  }

  /** Lets go of the oldest chunk, but not of what is yet to be judged in the light of chunks before it. */
  dropHead(): void {
    this.chunks.shift();
    this.#changed = true;
    this.noOlder = false;
    const sinceMs = this.head?.header.createdMs ?? Infinity;
    this.#headFrames = this.#headFrames.filter((frame) => frame.stampMs >= sinceMs);
  }

  /** What the next call names of a chunk held. */
  knownOf(chunk: CopiedChunk): Known {
    const { number, birth } = chunk.header;
    return { number, birth, length: chunk.length, place: chunk.place, frame: chunk.frame };
  }
}

/** Own times of one segment's share of a frame. */
const times = new Float64Array(MOST_IN_SEGMENT);

function store(events: Segments, view: DataView, parts: FrameParts, stampMs: number): void {
  const { count, baseAt, valuesAt } = parts;
  const baseMs = baseAt < 0 ? 0 : view.getFloat64(baseAt, true);
  for (let from = 0; from < count; ) {
    const segment = events.open();
    const some = Math.min(segment.room, count - from);
    const first = segment.reserve(some);
    readValues(view, valuesAt + from * segment.values.BYTES_PER_ELEMENT, segment.values, first, some);
    if (baseAt < 0) segment.stampAll(stampMs, some);
    else {
      for (let i = 0; i < some; i++) times[i] = baseMs + view.getUint32(baseAt + 8 + 4 * (from + i), true);
      segment.stampEach(times, 0, some);
    }
    from += some;
    events.filled();
  }
}

function readValues(view: DataView, at: number, values: Column, first: number, count: number): void {
  const width = values.BYTES_PER_ELEMENT;
  if (count > 8) {
    const source = new Uint8Array(view.buffer, view.byteOffset + at, count * width);
    new Uint8Array(values.buffer, values.byteOffset + first * width, count * width).set(source);
  } else if (width === 4) for (let i = 0; i < count; i++) values[first + i] = view.getFloat32(at + 4 * i, true);
  else for (let i = 0; i < count; i++) values[first + i] = view.getFloat64(at + 8 * i, true);
}

function corrupt(chunk: CopiedChunk, at: number, what: string): OrielError {
  return new OrielError("CORRUPT", `chunk ${chunk.header.number} ${what} at byte ${chunk.length + at}`);
}
