import { CELL, clearRow, ROW } from "./cells.ts";
import { bucketLengthMs, bucketStartMs } from "./shape.ts";

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
  /** A row a slot, and one more for what comes too late: written, never read. */
  readonly cells: Float64Array;
  /** The row for what comes too late. */
  readonly lateRow: number;
  lateCount = 0;
  /** The bucket that was used last; it holds: starts[#row / ROW] = #startMs. */
  #startMs = -Infinity;
  #row: number;

  constructor(sampleCount: number, intervalMs: number) {
    this.lengthMs = bucketLengthMs(sampleCount, intervalMs);
    this.sampleCount = sampleCount;
    this.intervalMs = intervalMs;
    this.starts = new Float64Array(sampleCount).fill(-Infinity);
    this.lateRow = sampleCount * ROW;
    this.cells = new Float64Array(this.lateRow + ROW);
    this.#row = this.lateRow;
  }

  /** The row for what happened at `timeMs`. */
  rowOf(timeMs: number): number {
    const sinceMs = timeMs - this.#startMs;
    if (sinceMs >= 0 && sinceMs < this.lengthMs) return this.#row;
    const row = this.turn(timeMs);
    if (row === this.lateRow) this.lateCount++;
    return row;
  }

  /** The same without counting what is late: makes the bucket of `timeMs` where its slot holds an older one. */
  turn(timeMs: number): number {
    const startMs = this.startOf(timeMs);
    const slot = this.slotOf(startMs);
    if (startMs < 0 || startMs < (this.starts[slot] as number)) return this.lateRow;
    const row = slot * ROW;
    if (startMs > (this.starts[slot] as number)) {
      clearRow(this.cells, row);
      this.starts[slot] = startMs;
    }
    this.#startMs = startMs;
    this.#row = row;
    return row;
  }

  /** Start of the bucket of `timeMs`; below 0 for times before 1970. */
  startOf(timeMs: number): number {
    return bucketStartMs(timeMs, this.lengthMs);
  }

  slotOf(startMs: number): number {
    return startMs < 0 ? 0 : (startMs / this.lengthMs) % this.sampleCount;
  }

  /** Sum of one cell over the buckets that start from `firstMs` to `lastMs`, both included. */
  sum(cell: number, firstMs: number, lastMs: number): number {
    let sum = 0;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs)) sum += this.cells[slot * ROW + cell] as number;
    return sum;
  }

  /** Largest value of one cell; -Infinity without any bucket. */
  max(cell: number, firstMs: number, lastMs: number): number {
    let max = -Infinity;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs)) max = Math.max(max, this.cells[slot * ROW + cell] as number);
    return max;
  }

  /** Least RT; Infinity without any. */
  minRt(firstMs: number, lastMs: number): number {
    let min = Infinity;
    for (let slot = 0; slot < this.sampleCount; slot++)
      if (this.#isFrom(slot, firstMs, lastMs)) min = Math.min(min, this.cells[slot * ROW + CELL.minRt] as number);
    return min;
  }

  /** Slots of the buckets that start from `firstMs` to `lastMs`, oldest first. */
  slotsFrom(firstMs: number, lastMs: number): number[] {
    return Array.from(this.starts.keys())
      .filter((slot) => this.#isFrom(slot, firstMs, lastMs))
      .sort((a, b) => (this.starts[a] as number) - (this.starts[b] as number));
  }

  #isFrom(slot: number, firstMs: number, lastMs: number): boolean {
    const startMs = this.starts[slot] as number;
    return startMs >= firstMs && startMs <= lastMs;
  }
}
