import { checkCount, checkLatency } from "../window/cells.ts";
import { ALLOWED, DENIED, FAILURE, LATENCY_MAX, LATENCY_MIN, LATENCY_SUM, SUCCESS } from "./bucket.ts";

export interface FleetMetricOptions {
  /** The bucket of the current time. Add to it at once and do not keep it. */
  bucket(): Float64Array;
  onLatency(latencyMs: number): void;
}

/** Counts for one name in memory, in the bucket of the server's time as this process estimates it. O(1). */
export class FleetMetric {
  readonly #options: FleetMetricOptions;

  constructor(options: FleetMetricOptions) {
    this.#options = options;
  }

  addSuccess(count = 1): void {
    this.#add(SUCCESS, count);
  }
  addFailure(count = 1): void {
    this.#add(FAILURE, count);
  }
  addAllowed(count = 1): void {
    this.#add(ALLOWED, count);
  }
  addDenied(count = 1): void {
    this.#add(DENIED, count);
  }

  /** Adds one response time in ms, without a success. */
  addLatency(latencyMs: number): void {
    checkLatency(latencyMs, "FleetMetric");
    const bucket = this.#options.bucket();
    bucket[LATENCY_SUM]! += latencyMs;
    if (latencyMs < bucket[LATENCY_MIN]!) bucket[LATENCY_MIN] = latencyMs;
    if (latencyMs > bucket[LATENCY_MAX]!) bucket[LATENCY_MAX] = latencyMs;
    this.#options.onLatency(latencyMs);
  }

  /** Counts one success, with its response time in ms. */
  recordSuccess(latencyMs: number): void {
    this.addLatency(latencyMs);
    this.#add(SUCCESS, 1);
  }

  /** Counts one failure. It has no response time: fast refusals would make the mean look better. */
  recordFailure(): void {
    this.#add(FAILURE, 1);
  }

  #add(field: number, count: number): void {
    checkCount(count, "FleetMetric");
    this.#options.bucket()[field]! += count;
  }
}
