import { CELL, clearRow, ROW } from "./cells.ts";
import { bucketLengthMs, bucketStartMs } from "./shape.ts";

/** Index in `current`, behind the numbers of the bucket: the time for which this bucket was last looked up. */
export const LOOKUP_TIME = ROW;

/**
 * The ring of `LeapArray`, stored as rows of one Float64Array. It allocates nothing after construction.
 * The start of a slot that was never used is -Infinity, which is before any other.
 */
export class MetricRing {
  readonly sampleCount: number;
  readonly intervalMs: number;
  readonly lengthMs: number;
  /** Start of each slot's bucket, ms since 1970. */
  readonly starts: Float64Array;
  /**
   * The numbers of the bucket that was looked up last, and the time of that lookup. A record at the same time does not
   * need another lookup. Fixed indexes make a record cost some ns. The row in `#cells` is updated before it is read.
   */
  readonly current: Float64Array = new Float64Array(ROW + 1).fill(Number.NaN);
  lateCount = 0;
  readonly #cells: Float64Array;
  readonly #storesTime: boolean;
  /** Slot and start of the bucket in `current`; -1 and -Infinity before the first lookup. */
  #slot = -1;
  #startMs = Number.NEGATIVE_INFINITY;

  /** `storesTime`: whether `current` stores the time of the lookup, so that a record at the same time can skip it. */
  constructor(sampleCount: number, intervalMs: number, storesTime: boolean) {
    this.#storesTime = storesTime;
    this.lengthMs = bucketLengthMs(sampleCount, intervalMs, "MetricWindow");
    this.sampleCount = sampleCount;
    this.intervalMs = intervalMs;
    this.starts = new Float64Array(sampleCount).fill(Number.NEGATIVE_INFINITY);
    this.#cells = new Float64Array(sampleCount * ROW);
  }

  /** Makes the bucket of `timeMs` current. If a later bucket has its slot, increments `lateCount` and returns false. */
  seek(timeMs: number): boolean {
    if (this.turn(timeMs)) return true;
    this.lateCount++;
    return false;
  }

  /** The same as `seek`, but leaves `lateCount` as it is. */
  turn(timeMs: number): boolean {
    // The subtraction would convert a value of another type to a number.
    const sinceMs = typeof timeMs === "number" ? timeMs - this.#startMs : Number.NaN;
    if (!(sinceMs >= 0 && sinceMs < this.lengthMs) && !this.#makeCurrent(this.startOf(timeMs))) return false;
    if (this.#storesTime) this.current[LOOKUP_TIME] = timeMs;
    return true;
  }

  /** Start of the bucket of `timeMs`; below 0 for times before 1970. */
  startOf(timeMs: number): number {
    return bucketStartMs(timeMs, this.lengthMs, "MetricWindow");
  }

  /** Slot of the bucket that starts at `startMs`; 0 before 1970, where there are no buckets. */
  slotOf(startMs: number): number {
    return startMs < 0 ? 0 : (startMs / this.lengthMs) % this.sampleCount;
  }

  /** Sum of one cell over the buckets that start from `firstMs` to `lastMs`, both included. */
  sum(cell: number, firstMs: number, lastMs: number): number {
    this.#putBack();
    let sum = 0;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs)) sum += this.#cells[slot * ROW + cell] as number;
    return sum;
  }

  /** Largest value of one cell; -Infinity if there is no bucket. */
  max(cell: number, firstMs: number, lastMs: number): number {
    this.#putBack();
    let max = Number.NEGATIVE_INFINITY;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs)) max = Math.max(max, this.#cells[slot * ROW + cell] as number);
    return max;
  }

  /** Smallest latency; Infinity if there is none. */
  minLatencyMs(firstMs: number, lastMs: number): number {
    this.#putBack();
    let min = Number.POSITIVE_INFINITY;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs))
        min = Math.min(min, this.#cells[slot * ROW + CELL.minLatencyMs] as number);
    return min;
  }

  /** Start and a copy of the row of each bucket that starts from `firstMs` to `lastMs`, oldest first. */
  rows(firstMs: number, lastMs: number): { startMs: number; row: Float64Array }[] {
    this.#putBack();
    return Array.from(this.starts, (startMs, slot) => ({ startMs, slot }))
      .filter(({ slot }) => this.#isFrom(slot, firstMs, lastMs))
      .sort((a, b) => a.startMs - b.startMs)
      .map(({ startMs, slot }) => ({ startMs, row: this.#cells.slice(slot * ROW, slot * ROW + ROW) }));
  }

  /** Makes the bucket that starts at `startMs` current. Replaces an older one in its slot; false if that one is later. */
  #makeCurrent(startMs: number): boolean {
    const slot = this.slotOf(startMs);
    const heldMs = this.starts[slot] as number;
    if (startMs < 0 || startMs < heldMs) return false;
    this.#putBack();
    if (startMs > heldMs) clearRow(this.#cells, slot * ROW);
    this.starts[slot] = startMs;
    this.#slot = slot;
    this.#startMs = startMs;
    for (let cell = 0; cell < ROW; cell++) this.current[cell] = this.#cells[slot * ROW + cell] as number;
    return true;
  }

  #putBack(): void {
    if (this.#slot < 0) return;
    for (let cell = 0; cell < ROW; cell++) this.#cells[this.#slot * ROW + cell] = this.current[cell] as number;
  }

  #isFrom(slot: number, firstMs: number, lastMs: number): boolean {
    const startMs = this.starts[slot] as number;
    return startMs >= firstMs && startMs <= lastMs;
  }
}
