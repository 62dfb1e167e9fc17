import { addCount, CELL } from "./cells.ts";
import type { MetricRing } from "./metric-ring.ts";

/**
 * Passes booked in future buckets, one count per slot. When a booked bucket begins, its count starts with them, even if
 * no call is made during the bucket. Source: Sentinel's OccupiableBucketLeapArray, which loses the booked passes of a
 * bucket without calls.
 */
export class BookedPasses {
  readonly #ring: MetricRing;
  readonly #starts: Float64Array;
  readonly #passes: Float64Array;

  constructor(ring: MetricRing) {
    this.#ring = ring;
    this.#starts = new Float64Array(ring.sampleCount).fill(Number.NEGATIVE_INFINITY);
    this.#passes = new Float64Array(ring.sampleCount);
  }

  /** Returns false if the slot has unsettled passes of another bucket, or if the time is before 1970. */
  book(timeMs: number, count: number): boolean {
    const startMs = this.#ring.startOf(timeMs);
    const slot = this.#ring.slotOf(startMs);
    if (startMs < 0 || (startMs !== this.#starts[slot] && this.#passes[slot] !== 0)) return false;
    this.#starts[slot] = startMs;
    this.#passes[slot] = (this.#passes[slot] as number) + count;
    return true;
  }

  /** Passes booked in buckets that begin after `nowMs`. */
  waiting(nowMs: number): number {
    let sum = 0;
    for (const [slot, startMs] of this.#starts.entries()) if (startMs > nowMs) sum += this.#passes[slot] as number;
    return sum;
  }

  /** Moves the passes of the buckets that have begun into the ring. */
  settle(nowMs: number): void {
    for (const [slot, startMs] of this.#starts.entries()) {
      if (startMs > nowMs || this.#passes[slot] === 0) continue;
      if (this.#ring.seek(startMs))
        addCount(this.#ring.current, CELL.allowed, this.#passes[slot] as number, "MetricWindow");
      this.#passes[slot] = 0;
    }
  }
}
