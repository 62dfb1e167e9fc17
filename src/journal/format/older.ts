import * as layout from "../../generated/layouts/journal.ts";
import { type ChunkHeader, expiryOf, isSound, needsOlder, readHeader } from "./chunk.ts";
import { law } from "./law.ts";

/** What of a journal's closed chunks is wanted with an answer: those of a window, within so many bytes in all. */
export interface Reach {
  /** The window begins so long before the series' now, or at `fromMs`, whichever is earlier. */
  spanMs: number;
  fromMs: number;
  mostBytes: number;
}

/** A closed chunk as it was found. */
export interface ClosedChunk {
  header: ChunkHeader;
  /** Its length in bytes. */
  length: number;
  /** Its first pages, as far as they were there. */
  bytes: Uint8Array;
}

export function encodeReach({ spanMs, fromMs, mostBytes }: Reach): Uint8Array {
  const view = new DataView(new ArrayBuffer(layout.LOOKBACK_BYTES));
  view.setFloat64(layout.LOOKBACK_SPAN_MS_AT, spanMs, true);
  view.setFloat64(layout.LOOKBACK_FROM_MS_AT, fromMs, true);
  view.setUint32(layout.LOOKBACK_MAX_BYTES_AT, mostBytes, true);
  return new Uint8Array(view.buffer);
}

/**
 * Closed chunks that came with an answer, under keys that no step had declared: what is there is as good as its birth,
 * what is not there may be elsewhere.
 */
export class Older {
  /** Newest first. */
  readonly chunks: readonly ClosedChunk[];
  /** The chunk before the last of these was not there, or not here. */
  readonly isMissing: boolean;

  constructor(chunks: readonly ClosedChunk[], isMissing: boolean) {
    this.chunks = chunks;
    this.isMissing = isMissing;
  }

  /** Those that a window from `fromMs` needs before `first`, as far as each one's birth is what the next one names. */
  *linkedTo(first: ChunkHeader, fromMs: number): Generator<ClosedChunk> {
    let next = first;
    for (const chunk of this.chunks) {
      const { format, birth } = chunk.header;
      if (!needsOlder(next, fromMs) || format !== law.format || birth !== next.birthBefore) return;
      if (!isSound(chunk.header)) return;
      yield chunk;
      next = chunk.header;
    }
  }

  /**
   * Whether the chunk before `next` was not there, and cannot be anywhere at `nowMs`: it expires by the header of `next`
   * at the latest, whose creation was its closing and whose retention is not less.
   */
  isOver(next: ChunkHeader, nowMs: number): boolean {
    return this.isMissing && nowMs > expiryOf({ ...next, lastStampMs: next.createdMs });
  }
}

export function decodeOlder(bytes: Uint8Array): Older {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const chunks: ClosedChunk[] = [];
  const count = view.getUint32(layout.CLOSED_CHUNKS_COUNT_AT, true);
  let at = layout.CLOSED_CHUNKS_BYTES + 4 * count;
  for (let i = 0; i < count; i++) {
    const length = view.getUint32(layout.CLOSED_CHUNKS_BYTES + 4 * i, true);
    const chunk = bytes.subarray(at, at + length);
    chunks.push({ header: readHeader(chunk), length, bytes: chunk });
    at += length;
  }
  return new Older(chunks, view.getUint32(layout.CLOSED_CHUNKS_MISSING_AT, true) === 1);
}
