import { ALLOWED, DENIED, FAILURE, LATENCY_SUM, merge, newBucket, SUCCESS } from "./bucket.ts";
import type { NamedBucket } from "./flush.ts";

/** The counts of one process for one name since the process started. */
export interface ProcessTotals {
  success: number;
  failure: number;
  allowed: number;
  denied: number;
  /** Sum of the response times of successes. */
  latencySumMs: number;
}

/**
 * The counts of a process since it started, by name. They are added when the outcome of a bucket is known, so counting
 * itself costs nothing extra. A name for which the fleet has no room continues under "", including its earlier counts.
 */
export class FleetTotals {
  readonly #byName = new Map<string, Float64Array>();

  add(name: string, bucket: Float64Array): void {
    addTo(this.#byName, name, bucket);
  }

  mergeIntoOthers(name: string): void {
    const bucket = this.#byName.get(name);
    if (name === "" || !bucket) return;
    this.#byName.delete(name);
    this.add("", bucket);
  }

  /** Returns the totals, including pending buckets. */
  with(pending: Iterable<NamedBucket>): Map<string, ProcessTotals> {
    const all = new Map([...this.#byName].map(([name, bucket]) => [name, bucket.slice()]));
    for (const { name, bucket } of pending) addTo(all, name, bucket);
    return new Map([...all].map(([name, bucket]) => [name, totalsOf(bucket)]));
  }
}

function addTo(byName: Map<string, Float64Array>, name: string, bucket: Float64Array): void {
  const sum = byName.get(name) ?? newBucket(0);
  byName.set(name, sum);
  merge(sum, bucket);
}

function totalsOf(bucket: Float64Array): ProcessTotals {
  return {
    success: bucket[SUCCESS]!,
    failure: bucket[FAILURE]!,
    allowed: bucket[ALLOWED]!,
    denied: bucket[DENIED]!,
    latencySumMs: bucket[LATENCY_SUM]!,
  };
}
