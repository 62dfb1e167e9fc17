import * as layout from "../../../generated/layouts/journal.ts";
import { constants } from "../format/constants.ts";

/*
 * Names of the last frames of a sealed chunk, because copies of these frames may follow in later chunks. A range (SEALED_RANGE
 * in layouts/journal.mjs) has the consecutive sequences of one producer. Ranges ascend by producer and sequence, and do not
 * meet. No range covers a name that is not in the chunk: that frame may still come and count.
 */

const RANGE_BYTES = layout.SEALED_RANGE_BYTES;
const SEQUENCES = 2 ** 32;

/** A frame that counted, with its stamp in ms since the creation of its chunk. */
export interface NamedFrame {
  /** As u32 or i32. */
  producer: number;
  sequence: number;
  sinceCreationMs: number;
}

/** Encodes names in 16 bytes for each range. The bytes do not depend on the order of the frames. */
export function encodeNames(frames: readonly NamedFrame[]): Uint8Array {
  const ascending = frames
    .map(({ producer, sequence, sinceCreationMs }) => [producer >>> 0, sequence >>> 0, sinceCreationMs] as const)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const ranges: { producer: number; first: number; next: number; lastMs: number }[] = [];
  for (const [producer, sequence, sinceMs] of ascending) {
    const last = ranges.at(-1);
    if (last?.producer === producer && sequence <= last.next) {
      last.next = sequence + 1;
      last.lastMs = Math.max(last.lastMs, sinceMs);
    } else ranges.push({ producer, first: sequence, next: sequence + 1, lastMs: sinceMs });
  }
  const view = new DataView(new ArrayBuffer(RANGE_BYTES * ranges.length));
  for (const [i, { producer, first, next, lastMs }] of ranges.entries()) {
    const at = i * RANGE_BYTES;
    view.setUint32(at + layout.SEALED_RANGE_PRODUCER_AT, producer, true);
    view.setUint32(at + layout.SEALED_RANGE_FIRST_AT, first, true);
    view.setUint32(at + layout.SEALED_RANGE_COUNT_AT, next - first, true);
    view.setUint32(at + layout.SEALED_RANGE_LAST_SINCE_CREATION_MS_AT, lastMs, true);
  }
  return new Uint8Array(view.buffer);
}

/** The names in a sealed chunk. They are searched in their bytes, so they take no other memory. */
export class SealedNames {
  readonly #view: DataView;
  readonly #createdMs: number;
  readonly #lastStampMs: number;

  private constructor(view: DataView, createdMs: number, lastStampMs: number) {
    this.#view = view;
    this.#createdMs = createdMs;
    this.#lastStampMs = lastStampMs;
  }

  /**
   * Undefined if the bytes are not ranges as `encodeNames` makes them. The times are those of the chunk's creation and last
   * stamp, server ms.
   */
  static parse(bytes: Uint8Array, createdMs: number, lastStampMs: number): SealedNames | undefined {
    if (bytes.length % RANGE_BYTES !== 0) return undefined;
    // A copy, because a Buffer's slice would keep the whole reply alive.
    const names = new SealedNames(new DataView(new Uint8Array(bytes).buffer), createdMs, lastStampMs);
    let lastProducer = -1;
    let next = 0;
    for (let i = 0; i < names.rangeCount; i++) {
      const [producer, first, end] = [names.#producerOf(i), names.#firstOf(i), names.#endOf(i)];
      if (end === first || end > SEQUENCES) return undefined;
      if (producer < lastProducer || (producer === lastProducer && first <= next)) return undefined;
      lastProducer = producer;
      next = end;
    }
    return names;
  }

  get rangeCount(): number {
    return this.#view.byteLength / RANGE_BYTES;
  }

  get sizeBytes(): number {
    return this.#view.byteLength;
  }

  /** Whether a copy of one of these frames can be stamped at `stampMs` or later. */
  reach(stampMs: number): boolean {
    return stampMs - this.#lastStampMs < constants.dedupeMs;
  }

  /**
   * Whether a frame of a later chunk is a copy. Stamps of all copies of a frame lie within `constants.dedupeMs`, and a producer
   * uses a sequence again after 2^32 frames. So a name that comes this soon after the last frame of its range is a copy,
   * although the stamp of its own first frame is unknown.
   */
  holds(producer: number, sequence: number, stampMs: number): boolean {
    const [wanted, place] = [producer >>> 0, sequence >>> 0];
    // The last range that begins at this name or before it.
    let low = 0;
    let high = this.rangeCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const its = this.#producerOf(middle);
      if (its < wanted || (its === wanted && this.#firstOf(middle) <= place)) low = middle + 1;
      else high = middle;
    }
    const i = low - 1;
    if (i < 0 || this.#producerOf(i) !== wanted || place >= this.#endOf(i)) return false;
    return stampMs - this.#lastMsOf(i) < constants.dedupeMs;
  }

  #lastMsOf(i: number): number {
    const at = i * RANGE_BYTES + layout.SEALED_RANGE_LAST_SINCE_CREATION_MS_AT;
    return this.#createdMs + this.#view.getUint32(at, true);
  }

  #producerOf(i: number): number {
    return this.#view.getUint32(i * RANGE_BYTES + layout.SEALED_RANGE_PRODUCER_AT, true);
  }

  #firstOf(i: number): number {
    return this.#view.getUint32(i * RANGE_BYTES + layout.SEALED_RANGE_FIRST_AT, true);
  }

  /** The sequence after the last one, at most 2^32 in sound bytes. */
  #endOf(i: number): number {
    return this.#firstOf(i) + this.#view.getUint32(i * RANGE_BYTES + layout.SEALED_RANGE_COUNT_AT, true);
  }
}
