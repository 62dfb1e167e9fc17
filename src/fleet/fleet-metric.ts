import { checkCount, checkRt } from "../metrics/cells.ts";
import { BLOCK, EXCEPTION, PASS, RT_MAX, RT_MIN, RT_SUM, SUCCESS } from "./bucket.ts";

export interface FleetMetricOptions {
  /** What is counted now, to be added to at once. */
  bucket(): Float64Array;
  onRt: ((rtMs: number) => void) | undefined;
}

/** Counts for one name, in this process' memory, in the bucket of the server's time as it is known here; O(1). */
export class FleetMetric {
  readonly #options: FleetMetricOptions;

  constructor(options: FleetMetricOptions) {
    this.#options = options;
  }

  addSuccess(count = 1): void {
    this.#add(SUCCESS, count);
  }
  addException(count = 1): void {
    this.#add(EXCEPTION, count);
  }
  addPass(count = 1): void {
    this.#add(PASS, count);
  }
  addBlock(count = 1): void {
    this.#add(BLOCK, count);
  }

  /** One response time in ms, without a success. */
  addRt(rtMs: number): void {
    checkRt(rtMs);
    const bucket = this.#options.bucket();
    bucket[RT_SUM]! += rtMs;
    if (rtMs < bucket[RT_MIN]!) bucket[RT_MIN] = rtMs;
    if (rtMs > bucket[RT_MAX]!) bucket[RT_MAX] = rtMs;
    this.#options.onRt?.(rtMs);
  }

  /** One success with its response time in ms. */
  recordSuccess(rtMs: number): void {
    this.addRt(rtMs);
    this.#add(SUCCESS, 1);
  }

  #add(field: number, count: number): void {
    checkCount(count);
    this.#options.bucket()[field]! += count;
  }
}
