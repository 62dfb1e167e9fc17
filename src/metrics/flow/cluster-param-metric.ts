import { checkKnown } from "../../base/errors.ts";
import { argumentErrorOf, atSite } from "../../base/site.ts";
import { LeapArray } from "../window/leap-array.ts";
import type { ClusterMetricOptions } from "./cluster-metric.ts";
import { atLeast } from "./controller.ts";

/** Options of `ClusterParamMetric`. */
export interface ClusterParamMetricOptions extends ClusterMetricOptions {
  /** Maximum number of values in a bucket; default 4000. Above it, the least recently counted value is evicted. */
  maxValues?: number | undefined;
}

/**
 * The counts of a token server for each value of a hot parameter.
 * Cost: `add` O(1), `sum` O(buckets), `top` O(buckets * values), and a sort of the distinct values.
 * Source: Sentinel's ClusterParamMetric.
 */
export class ClusterParamMetric<Value = string> {
  readonly #array: LeapArray<Map<Value, number>>;
  readonly #maxValues: number;

  constructor(options: ClusterParamMetricOptions) {
    atSite("ClusterParamMetric", () => checkKnown(options, ["sampleCount", "interval", "clock", "maxValues"]));
    const { sampleCount, interval, clock = Date.now, maxValues = 4000 } = options;
    if (!Number.isSafeInteger(maxValues) || maxValues < 1)
      throw argumentErrorOf("ClusterParamMetric", "maxValues", maxValues, "a whole number, 1 or more");
    this.#maxValues = maxValues;
    const reset = (bucket: Map<Value, number>) => bucket.clear();
    this.#array = new LeapArray(sampleCount, interval, () => new Map(), { clock, reset });
  }

  /** Adds any finite number to the count of a value. A negative number subtracts. */
  add(value: Value, count = 1): void {
    if (!Number.isFinite(count)) throw argumentErrorOf("ClusterParamMetric", "count", count, "a finite number");
    const bucket = this.#array.currentWindow()?.value;
    if (!bucket) return;
    const before = bucket.get(value) ?? 0;
    bucket.delete(value);
    bucket.set(value, before + count);
    if (bucket.size > this.#maxValues) bucket.delete(bucket.keys().next().value as Value);
  }

  /** Returns the count of a value; 0 if it was never counted. */
  sum(value: Value): number {
    this.#array.currentWindow();
    return this.#array.values().reduce((sum, bucket) => sum + (bucket.get(value) ?? 0), 0);
  }

  /** Returns the average count of a value per second of the interval. */
  avg(value: Value): number {
    return this.#perSecond(this.sum(value));
  }

  /** Returns the `limit` values with the largest averages, with these averages, largest first. */
  top(limit: number): Map<Value, number> {
    atSite("ClusterParamMetric", () => atLeast("limit", limit, 0, "values"));
    this.#array.currentWindow();
    const sums = new Map<Value, number>();
    for (const bucket of this.#array.values())
      for (const [value, count] of bucket) sums.set(value, (sums.get(value) ?? 0) + count);
    const largest = [...sums].sort(([, one], [, other]) => other - one).slice(0, limit);
    return new Map(largest.map(([value, sum]) => [value, this.#perSecond(sum)]));
  }

  #perSecond(sum: number): number {
    return (sum * 1000) / this.#array.intervalMs;
  }
}
