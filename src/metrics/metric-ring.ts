import { CELL, clearRow, ROW } from "./cells.ts";
import { bucketLengthMs, bucketStartMs } from "./shape.ts";

/** Where `current` keeps, after the numbers of its bucket, the instant it was sought for last. */
export const SOUGHT = ROW;

/**
 * The law of LeapArray over rows of one Float64Array: no object a bucket, nothing allocated after construction.
 * A slot that was never used holds a bucket of -Infinity, which is older than any.
 */
export class MetricRing {
  readonly sampleCount: number;
  readonly intervalMs: number;
  readonly lengthMs: number;
  /** Start of each slot's bucket, ms since 1970. */
  readonly starts: Float64Array;
  /**
   * The numbers of the bucket that was sought last, and the instant for which: what is recorded at the same one needs no
   * other check. At fixed places, which makes a record some ns; its row in `#cells` is brought up to date before it is read.
   */
  readonly current = new Float64Array(ROW + 1).fill(Number.NaN);
  lateCount = 0;
  readonly #cells: Float64Array;
  readonly #remembers: boolean;
  /** Of the bucket in `current`; -1 and -Infinity as long as there is none. */
  #slot = -1;
  #startMs = -Infinity;

  /** `remembers`: whether what is recorded at the instant sought last may go on without asking. */
  constructor(sampleCount: number, intervalMs: number, remembers: boolean) {
    this.#remembers = remembers;
    this.lengthMs = bucketLengthMs(sampleCount, intervalMs, "MetricWindow");
    this.sampleCount = sampleCount;
    this.intervalMs = intervalMs;
    this.starts = new Float64Array(sampleCount).fill(-Infinity);
    this.#cells = new Float64Array(sampleCount * ROW);
  }

  /** Makes the bucket of `timeMs` the current one; false, and counted, where its slot has gone on to a later one. */
  seek(timeMs: number): boolean {
    if (this.turn(timeMs)) return true;
    this.lateCount++;
    return false;
  }

  /** The same without counting what is late. */
  turn(timeMs: number): boolean {
    // Of what is no number too, which would be turned into one.
    const sinceMs = typeof timeMs === "number" ? timeMs - this.#startMs : Number.NaN;
    if (!(sinceMs >= 0 && sinceMs < this.lengthMs) && !this.#take(this.startOf(timeMs))) return false;
    if (this.#remembers) this.current[SOUGHT] = timeMs;
    return true;
  }

  /** Start of the bucket of `timeMs`; below 0 for times before 1970. */
  startOf(timeMs: number): number {
    return bucketStartMs(timeMs, this.lengthMs, "MetricWindow");
  }

  /** 0 for times before 1970, which have no bucket. */
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

  /** Largest value of one cell; -Infinity without any bucket. */
  max(cell: number, firstMs: number, lastMs: number): number {
    this.#putBack();
    let max = -Infinity;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs)) max = Math.max(max, this.#cells[slot * ROW + cell] as number);
    return max;
  }

  /** Least latency; Infinity without any. */
  minLatencyMs(firstMs: number, lastMs: number): number {
    this.#putBack();
    let min = Infinity;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs))
        min = Math.min(min, this.#cells[slot * ROW + CELL.minLatencyMs] as number);
    return min;
  }

  /** Starts, and copies of the rows, of the buckets that start from `firstMs` to `lastMs`, oldest first. */
  rows(firstMs: number, lastMs: number): { startMs: number; row: Float64Array }[] {
    this.#putBack();
    return Array.from(this.starts, (startMs, slot) => ({ startMs, slot }))
      .filter(({ slot }) => this.#isFrom(slot, firstMs, lastMs))
      .sort((a, b) => a.startMs - b.startMs)
      .map(({ startMs, slot }) => ({ startMs, row: this.#cells.slice(slot * ROW, slot * ROW + ROW) }));
  }

  /** Makes the bucket that starts at `startMs` the current one, in place of one that is older; false for a later one. */
  #take(startMs: number): boolean {
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
