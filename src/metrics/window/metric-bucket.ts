import { addCount, CELL, clearRow, ROW, updateExtremes } from "./cells.ts";

/**
 * The counts of one bucket, and the sum, minimum and maximum of its response times in ms. Without a response time, these
 * three are 0, NaN and NaN. Throws ARGUMENT for a count that is negative or not a whole number. Cost: O(1) per call.
 * Source: Sentinel's MetricBucket, whose minimum without a response time is 5000; see `mode` of MetricWindow.
 */
export class MetricBucket {
  readonly #cells = new Float64Array(ROW);

  constructor() {
    this.reset();
  }

  get success(): number {
    return this.#get(CELL.success);
  }
  get failure(): number {
    return this.#get(CELL.failure);
  }
  get allowed(): number {
    return this.#get(CELL.allowed);
  }
  get denied(): number {
    return this.#get(CELL.denied);
  }
  get borrowed(): number {
    return this.#get(CELL.borrowed);
  }
  get latencySumMs(): number {
    return this.#get(CELL.latencySumMs);
  }
  get minLatencyMs(): number {
    const latencyMs = this.#get(CELL.minLatencyMs);
    return latencyMs === Number.POSITIVE_INFINITY ? Number.NaN : latencyMs;
  }
  get maxLatencyMs(): number {
    const latencyMs = this.#get(CELL.maxLatencyMs);
    return latencyMs === Number.NEGATIVE_INFINITY ? Number.NaN : latencyMs;
  }

  /** Counts calls that succeeded. */
  addSuccess(count = 1): this {
    return this.#add(CELL.success, count);
  }
  /** Counts calls that failed. */
  addFailure(count = 1): this {
    return this.#add(CELL.failure, count);
  }
  /** Counts calls that passed. */
  addAllowed(count = 1): this {
    return this.#add(CELL.allowed, count);
  }
  /** Counts calls that were denied. */
  addDenied(count = 1): this {
    return this.#add(CELL.denied, count);
  }
  /** Counts calls that passed with permits of a later bucket. */
  addBorrowed(count = 1): this {
    return this.#add(CELL.borrowed, count);
  }

  /** Adds a response time in ms to the sum, and to the minimum and maximum. */
  addLatency(latencyMs: number): this {
    updateExtremes(this.#cells, 0, latencyMs, "MetricBucket");
    this.#cells[CELL.latencySumMs] = this.#get(CELL.latencySumMs) + latencyMs;
    return this;
  }

  /** Sets all counts to zero. */
  reset(): this {
    clearRow(this.#cells, 0);
    return this;
  }

  #get(cell: number): number {
    return this.#cells[cell] as number;
  }

  #add(cell: number, count: number): this {
    addCount(this.#cells, cell, count, "MetricBucket");
    return this;
  }
}
