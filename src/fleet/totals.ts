import { ALLOWED, DENIED, FAILURE, LATENCY_SUM, merge, newBucket, SUCCESS } from "./bucket.ts";
import type { NamedBucket } from "./flush.ts";

/** What one process has counted for one name since it began. */
export interface ProcessTotals {
  success: number;
  failure: number;
  allowed: number;
  denied: number;
  /** Response times of successes, added up. */
  latencySumMs: number;
}

/**
 * What a process has counted since it began, by name: added up when the fate of a bucket is known, so that counting costs
 * nothing more. A name that has no room in the fleet goes on under "", and so does what it had.
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

  /** With what is on its way. */
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
