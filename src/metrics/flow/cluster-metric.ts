import { checkKnown } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import type { Clock, Duration } from "../../base/time.ts";
import { LeapArray } from "../window/leap-array.ts";
import { MetricBucket } from "../window/metric-bucket.ts";
import { atLeast, checkPasses, DENY, type FlowDecision, PASS } from "./controller.ts";

/** Options of `ClusterMetric`: the window, and its clock. */
export interface ClusterMetricOptions {
  /** Buckets that divide `interval` evenly. */
  sampleCount: number;
  interval: Duration;
  /** Ms since 1970; default `Date.now`. */
  clock?: Clock | undefined;
}

/**
 * The counts of a token server for one rule: allowed and denied passes, and passes booked in the next bucket.
 * Cost: O(buckets). Source: Sentinel's ClusterMetric and ClusterFlowChecker. As in Sentinel, a rate per second is
 * compared with counts of buckets, and a wait is 1000 / sampleCount ms. Both are meant for an interval of 1 s.
 */
export class ClusterMetric {
  readonly #array: LeapArray<MetricBucket>;
  #waiting = 0;

  constructor(options: ClusterMetricOptions) {
    atSite("ClusterMetric", () => checkKnown(options, ["sampleCount", "interval", "clock"]));
    const { sampleCount, interval, clock = Date.now } = options;
    const reset = (bucket: MetricBucket) => {
      bucket.reset().addAllowed(this.#waiting).addBorrowed(this.#waiting);
      this.#waiting = 0;
    };
    this.#array = new LeapArray(sampleCount, interval, () => new MetricBucket(), { clock, reset });
  }

  /** Counts calls that passed. */
  addAllowed(count = 1): void {
    this.#array.currentWindow()?.value.addAllowed(count);
  }
  /** Counts calls that were denied. */
  addDenied(count = 1): void {
    this.#array.currentWindow()?.value.addDenied(count);
  }

  /** Calls in the window that passed. */
  allowed(): number {
    return this.#sum((bucket) => bucket.allowed);
  }
  /** Calls in the window that were denied. */
  denied(): number {
    return this.#sum((bucket) => bucket.denied);
  }
  /** Calls that passed, per second of the window. */
  allowedPerSecond(): number {
    return (this.allowed() * 1000) / this.#array.intervalMs;
  }

  /** Passes booked in the next bucket. */
  waiting(): number {
    return this.#waiting;
  }

  /** Books `count` passes in the next bucket and returns the wait in ms; returns 0 if `threshold` does not allow it. */
  tryOccupyNext(count: number, threshold: number): number {
    checkPasses(count, "ClusterMetric");
    atSite("ClusterMetric", () => atLeast("threshold", threshold, 0, "passes a second"));
    const leaving = this.#array.validHead()?.value.allowed ?? 0;
    if (this.allowedPerSecond() + count + this.#waiting - leaving > threshold) return 0;
    this.#waiting += count;
    return 1000 / this.#array.sampleCount;
  }

  /** Allows at most `threshold` passes per second and counts decisions. A `prioritized` call may wait one bucket. */
  acquire(count: number, threshold: number, prioritized = false): FlowDecision {
    checkPasses(count, "ClusterMetric");
    atSite("ClusterMetric", () => atLeast("threshold", threshold, 0, "passes a second"));
    if (this.allowedPerSecond() + count <= threshold) {
      this.addAllowed(count);
      return PASS;
    }
    const waitMs = prioritized && this.#waiting <= threshold ? this.tryOccupyNext(count, threshold) : 0;
    if (waitMs > 0) return { allowed: true, waitMs };
    this.addDenied(count);
    return DENY;
  }

  #sum(of: (bucket: MetricBucket) => number): number {
    this.#array.currentWindow();
    return this.#array.values().reduce((sum, bucket) => sum + of(bucket), 0);
  }
}
