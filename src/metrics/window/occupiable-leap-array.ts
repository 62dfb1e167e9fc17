import { checkKnown } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import type { Clock, Duration } from "../../base/time.ts";
import { LeapArray } from "./leap-array.ts";
import { MetricBucket } from "./metric-bucket.ts";

/**
 * A LeapArray of MetricBuckets in which passes can be booked in future buckets. A bucket starts with the passes booked
 * for it. MetricWindow does the same with typed arrays.
 * Source: Sentinel's OccupiableBucketLeapArray and FutureBucketLeapArray.
 */
export class OccupiableLeapArray extends LeapArray<MetricBucket> {
  readonly #borrowed: LeapArray<MetricBucket>;

  constructor(sampleCount: number, interval: Duration, options: { clock?: Clock | undefined } = {}) {
    atSite("OccupiableLeapArray", () => checkKnown(options, ["clock"]));
    const { clock = Date.now } = options;
    const borrowed = new LeapArray(sampleCount, interval, () => new MetricBucket(), { mode: "future", clock });
    const begin = (bucket: MetricBucket, timeMs: number) =>
      bucket.reset().addAllowed(borrowed.windowValue(timeMs)?.allowed ?? 0);
    super(sampleCount, interval, (timeMs) => begin(new MetricBucket(), timeMs), { clock, reset: begin });
    this.#borrowed = borrowed;
  }

  /** Books passes in the bucket of `timeMs`. */
  addWaiting(timeMs: number, count: number): void {
    this.#borrowed.currentWindow(timeMs)?.value.addAllowed(count);
  }

  /** Passes booked in future buckets. */
  currentWaiting(): number {
    return this.#borrowed.values().reduce((sum, bucket) => sum + bucket.allowed, 0);
  }
}
