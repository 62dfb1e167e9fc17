import * as layout from "../../../generated/layouts/journal.ts";
import { type ChunkHeader, expiryOf, isSound, needsOlder, readHeader } from "./chunk.ts";
import { constants } from "./constants.ts";

/** The closed chunks to return with an answer: those of a window, up to a total size. */
export interface Lookback {
  /** The window begins this long before the series' present, or at `fromMs`, whichever is earlier. */
  spanMs: number;
  fromMs: number;
  maxBytes: number;
}

/** A closed chunk that a read has found. */
export interface ClosedChunk {
  header: ChunkHeader;
  /** Its length in bytes. */
  length: number;
  /** Its first pages, as far as they were read. */
  bytes: Uint8Array;
}

export function encodeLookback({ spanMs, fromMs, maxBytes }: Lookback): Uint8Array {
  const view = new DataView(new ArrayBuffer(layout.LOOKBACK_BYTES));
  view.setFloat64(layout.LOOKBACK_SPAN_MS_AT, spanMs, true);
  view.setFloat64(layout.LOOKBACK_FROM_MS_AT, fromMs, true);
  view.setUint32(layout.LOOKBACK_MAX_BYTES_AT, maxBytes, true);
  return new Uint8Array(view.buffer);
}

/**
 * Closed chunks that came with an answer. The step read their keys undeclared, so a chunk counts only if its birth fits, and a
 * missing one may be on another node.
 */
export class ClosedChunks {
  /** Newest first. */
  readonly chunks: readonly ClosedChunk[];
  /** The chunk before the last of these does not exist on this node. */
  readonly isMissing: boolean;

  constructor(chunks: readonly ClosedChunk[], isMissing: boolean) {
    this.chunks = chunks;
    this.isMissing = isMissing;
  }

  /**
   * The chunks before `first` that a window from `fromMs` needs, as far as each has the number of its key and the birth that the
   * next one names.
   */
  *linkedTo(first: ChunkHeader, fromMs: number): Generator<ClosedChunk> {
    let next = first;
    for (const chunk of this.chunks) {
      const { format, number, birth } = chunk.header;
      const isKnown = format === constants.format || format === constants.sealedFormat;
      if (!needsOlder(next, fromMs) || !isKnown || birth !== next.birthBefore) return;
      if (number !== next.number - 1 || !isSound(chunk.header)) return;
      yield chunk;
      next = chunk.header;
    }
  }

  /**
   * Whether the chunk before `next` was missing and has expired at `nowMs`. It was closed when `next` was created, and its
   * retention is not longer, so it expires at the latest by the header of `next`.
   */
  isOver(next: ChunkHeader, nowMs: number): boolean {
    return this.isMissing && nowMs > expiryOf({ ...next, lastStampMs: next.createdMs });
  }
}

export function decodeClosedChunks(reply: Uint8Array): ClosedChunks {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
  // Parts of a Buffer cost twice as much as those of a plain array, and an outline has thousands.
  const bytes = new Uint8Array(reply.buffer, reply.byteOffset, reply.length);
  const chunks: ClosedChunk[] = [];
  const count = view.getUint32(layout.CLOSED_CHUNKS_COUNT_AT, true);
  let at = layout.CLOSED_CHUNKS_BYTES + 4 * count;
  for (let i = 0; i < count; i++) {
    const length = view.getUint32(layout.CLOSED_CHUNKS_BYTES + 4 * i, true);
    const chunk = bytes.subarray(at, at + length);
    chunks.push({ header: readHeader(chunk), length, bytes: chunk });
    at += length;
  }
  return new ClosedChunks(chunks, view.getUint32(layout.CLOSED_CHUNKS_MISSING_AT, true) === 1);
}
