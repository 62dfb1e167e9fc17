import { addCount, CELL, clearRow, ROW, widen } from "./cells.ts";

/**
 * The counts of one slice of time, and sum (`latencySumMs`), minimum and maximum of its response times in ms; without any, these are
 * 0, NaN and NaN. Each call O(1). ARGUMENT for counts that are not whole or below 0. Source: Sentinel's MetricBucket,
 * whose minimum is 5000 when there is none: see `mode` of MetricWindow.
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
    return latencyMs === Infinity ? Number.NaN : latencyMs;
  }
  get maxLatencyMs(): number {
    const latencyMs = this.#get(CELL.maxLatencyMs);
    return latencyMs === -Infinity ? Number.NaN : latencyMs;
  }

  addSuccess(count = 1): this {
    return this.#add(CELL.success, count);
  }
  addFailure(count = 1): this {
    return this.#add(CELL.failure, count);
  }
  addAllowed(count = 1): this {
    return this.#add(CELL.allowed, count);
  }
  addDenied(count = 1): this {
    return this.#add(CELL.denied, count);
  }
  addBorrowed(count = 1): this {
    return this.#add(CELL.borrowed, count);
  }

  addLatency(latencyMs: number): this {
    widen(this.#cells, 0, latencyMs, "MetricBucket");
    this.#cells[CELL.latencySumMs] = this.#get(CELL.latencySumMs) + latencyMs;
    return this;
  }

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
