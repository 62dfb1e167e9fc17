import { activeBlocks } from "../../kernel/blocks/choose.ts";
import type { PackedEvents } from "../../stats/segments/packed-events.ts";
import { bytesPerEvent, type Segment } from "../../stats/segments/segment.ts";
import { Segments } from "../../stats/segments/segments.ts";
import { FRAME_HEADER_BYTES, type Known } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";
import { Dedupe } from "../format/dedupe.ts";
import { type FrameParts, FrameValues, noParts, readFrame } from "../format/frames.ts";
import { JournalRolledBack } from "../format/journal-rolled-back.ts";
import type { SealedNames } from "../sealed/names.ts";
import type { SealedChunk } from "../sealed/sealed-chunk.ts";
import { DamagedChunk } from "../steps/corrupt.ts";

/** Heap of a copied chunk besides its events: a segment with its columns, runs and blocks. */
const CHUNK_BYTES = 1800;
/** The bound of events alone, times this, bounds events and names of frames together. */
const WITH_NAMES = 1.5;

/** A chunk in a copy: its events, and the place where its next bytes begin. */
export interface CopiedChunk {
  header: ChunkHeader;
  /** Bytes read, including the header, up to the end of a frame. */
  length: number;
  /** Offset of the last frame header; 0 before the first. */
  place: number;
  frame: Uint8Array;
  events: Segments;
}

/**
 * One process's copy of a part of a journal, oldest chunk first. Each frame was counted or recognised as a copy, in the order of
 * the journal. The names of the frames counted in its first `constants.dedupeMs` are kept: if older chunks are added in front,
 * one of these frames may be a copy, and then everything is read again.
 */
export class JournalCopy {
  chunks: CopiedChunk[] = [];
  /** True if the chunk before the first is known not to exist. */
  isFirstKnown = false;
  #dedupe = new Dedupe();
  /** These frames, stamped in the given range, were not compared with frames of earlier chunks. */
  #headFrames = this.#dedupe.first;
  #headSinceMs = Number.NEGATIVE_INFINITY;
  #headUntilMs = Number.NEGATIVE_INFINITY;
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

  /** Approximate size of the events in the heap. */
  get eventBytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.events.sizeBytes, 0);
  }

  /** Approximate size in the heap. */
  get sizeBytes(): number {
    return this.eventBytes + this.chunks.length * CHUNK_BYTES + this.nameBytes;
  }

  /** Whether its events, or `eventCount` others, exceed `maxBytes`; or these, names and other bytes 1.5 times that. */
  exceeds(maxBytes: number, eventCount?: number, othersBytes = 0): boolean {
    const valueType = this.tail?.header.valueType ?? 0;
    const eventBytes = eventCount === undefined ? this.eventBytes : eventCount * bytesPerEvent(valueType);
    return eventBytes > maxBytes || eventBytes + this.nameBytes + othersBytes > WITH_NAMES * maxBytes;
  }

  /** Approximate size of the names of frames in the heap. */
  get nameBytes(): number {
    return this.#dedupe.sizeBytesWith(this.#headFrames);
  }

  /** All segments, oldest first, and a number that changes with them and when a segment is closed. */
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

  /** Packs one segment, 16 384 events or 65 472 pairs at most. Returns false if all closed ones are packed. Cost: about 0.1 us an event. */
  packNext(Packed: typeof PackedEvents): boolean {
    if (!this.chunks.some(({ events }) => events.packNext(Packed))) return false;
    this.#changed = true;
    return true;
  }

  clear(): void {
    this.chunks = [];
    // Frees the memory now. There may be no further query.
    this.#list = [];
    this.#changed = true;
    this.isFirstKnown = false;
    this.#dedupe = new Dedupe();
    this.#headFrames = this.#dedupe.first;
    this.#headSinceMs = Number.NEGATIVE_INFINITY;
    this.#headUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Begins the next chunk. The last one gets no more events. */
  begin(header: ChunkHeader): CopiedChunk {
    if (this.chunks.length === 0) this.#headUntilMs = header.createdMs + constants.dedupeMs;
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
   * Adds the next bytes of the last chunk, as far as they are whole frames. A frame that a page cuts is read again, because the
   * part that was read may be rolled back.
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
      if (found === "foreign") throw corrupt(chunk, at, "has foreign bytes");
      this.#count(chunk, source, parts);
      last = at;
      at += parts.size;
    }
    if (last >= 0) {
      chunk.place = chunk.length + last;
      // A copy, because a Buffer's slice would keep the whole reply alive.
      chunk.frame = new Uint8Array(bytes.subarray(last, last + FRAME_HEADER_BYTES));
    } else if (bytes.length > 0) throw corrupt(chunk, 0, "ends within a frame");
    chunk.length += at;
  }

  /**
   * Adds the rest of the last chunk from its sealed form. Copies of frames were dropped when it was sealed, compared with all
   * frames before it. The events that are here must be its first ones, to the bit. Else they are of a past that a failover took
   * back: throws JournalRolledBack.
   */
  takeSealed(sealed: SealedChunk): void {
    const chunk = this.tail!;
    let held = chunk.events.count;
    let at = 0;
    chunk.events.expect(sealed.count - held);
    for (const { times, values } of sealed.decode(activeBlocks())) {
      const same = Math.min(held, values.length);
      if (!chunk.events.hasAt(at, times.subarray(0, same), values))
        throw new JournalRolledBack(chunk.length > sealed.end.length);
      if (same < values.length) chunk.events.appendAll(values.subarray(same), times.subarray(same));
      held -= same;
      at += same;
    }
    if (held > 0) throw new JournalRolledBack(chunk.length > sealed.end.length);
    this.#dedupe.addSealed(sealed.names, sealed.header.lastStampMs);
    const { length, place, frame } = sealed.end;
    Object.assign(chunk, { header: sealed.header, length, place, frame });
  }

  /** Passes the last chunk, which is sealed, without its events. Copies of its frames in later chunks are recognised. */
  skipSealed(names: SealedNames, stampMs: number): void {
    this.#dedupe.addSealed(names, stampMs);
  }

  #count(chunk: CopiedChunk, source: FrameValues, parts: FrameParts): void {
    const stampMs = chunk.header.createdMs + parts.sinceCreationMs;
    // As i32, because engines store a large u32 as an object.
    if (!this.#dedupe.admit(parts.producer | 0, parts.sequence | 0, stampMs)) return;
    source.store(chunk.events, parts, stampMs);
  }

  /** Adds an older part in front. Returns false, without a change, if a frame of this copy is a copy of one in it. */
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

  /** Drops the oldest chunk, but keeps the names that are still to be compared with earlier chunks. */
  dropHead(): void {
    this.chunks.shift();
    this.#changed = true;
    this.isFirstKnown = false;
    this.#headSinceMs = this.head?.header.createdMs ?? Number.POSITIVE_INFINITY;
  }

  /** The known part of a chunk, for the next call. */
  knownOf(chunk: CopiedChunk): Known {
    const { number, birth } = chunk.header;
    return { number, birth, length: chunk.length, place: chunk.place, frame: chunk.frame };
  }
}

function corrupt(chunk: CopiedChunk, at: number, what: string): DamagedChunk {
  return new DamagedChunk(chunk.header.number, `${what} at byte ${chunk.length + at}`);
}
