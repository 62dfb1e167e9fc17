import { checkKnown } from "../errors.ts";
import { LeapArray } from "../metrics/leap-array.ts";
import { argumentErrorOf, placed } from "../place.ts";
import type { ClusterMetricOptions } from "./cluster-metric.ts";
import { atLeast } from "./controller.ts";

export interface ClusterParamMetricOptions extends ClusterMetricOptions {
  /** Values that a bucket holds at most, default 4000; of more, those that were counted longest ago are let go. */
  maxValues?: number;
}

/**
 * What a token server counts for each value of a hot parameter. `add` O(1), `sum` O(buckets), `top` O(buckets * values).
 * Source: Sentinel's ClusterParamMetric.
 */
export class ClusterParamMetric<Value = string> {
  readonly #array: LeapArray<Map<Value, number>>;
  readonly #maxValues: number;

  constructor(options: ClusterParamMetricOptions) {
    placed("ClusterParamMetric", () => checkKnown(options, ["sampleCount", "interval", "clock", "maxValues"]));
    const { sampleCount, interval, clock = Date.now, maxValues = 4000 } = options;
    if (!Number.isSafeInteger(maxValues) || maxValues < 1)
      throw argumentErrorOf("ClusterParamMetric", "maxValues", maxValues, "a whole number, 1 or more");
    this.#maxValues = maxValues;
    const reset = (bucket: Map<Value, number>) => bucket.clear();
    this.#array = new LeapArray(sampleCount, interval, () => new Map(), { clock, reset });
  }

  /** Counts any finite number for a value; a negative one takes back. */
  add(value: Value, count = 1): void {
    if (!Number.isFinite(count)) throw argumentErrorOf("ClusterParamMetric", "count", count, "a finite number");
    const bucket = this.#array.currentWindow()?.value;
    if (!bucket) return;
    const before = bucket.get(value) ?? 0;
    bucket.delete(value);
    bucket.set(value, before + count);
    if (bucket.size > this.#maxValues) bucket.delete(bucket.keys().next().value as Value);
  }

  /** 0 for a value that was not counted. */
  sum(value: Value): number {
    this.#array.currentWindow();
    return this.#array.values().reduce((sum, bucket) => sum + (bucket.get(value) ?? 0), 0);
  }

  /** Per second of the interval. */
  avg(value: Value): number {
    return this.#perSecond(this.sum(value));
  }

  /** The `most` values with the largest averages, and these, largest first. */
  top(most: number): Map<Value, number> {
    placed("ClusterParamMetric", () => atLeast("most", most, 0, "values"));
    this.#array.currentWindow();
    const sums = new Map<Value, number>();
    for (const bucket of this.#array.values())
      for (const [value, count] of bucket) sums.set(value, (sums.get(value) ?? 0) + count);
    const largest = [...sums].sort(([, one], [, other]) => other - one).slice(0, most);
    return new Map(largest.map(([value, sum]) => [value, this.#perSecond(sum)]));
  }

  #perSecond(sum: number): number {
    return (sum * 1000) / this.#array.intervalMs;
  }
}
