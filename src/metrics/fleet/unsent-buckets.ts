import { merge, newBucket } from "./bucket.ts";
import { MAX_BUCKETS_PER_FLUSH, type NamedBucket } from "./flush.ts";

/** Counts of this process that are not sent yet: for each name, its buckets by start time. */
export class UnsentBuckets {
  readonly #byName = new Map<string, Map<number, Float64Array>>();

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  /** Returns a bucket. Add to it at once: a bucket that `take` has removed is no longer counted here. */
  bucketOf(name: string, startMs: number): Float64Array {
    let buckets = this.#byName.get(name);
    if (!buckets) {
      buckets = new Map();
      this.#byName.set(name, buckets);
    }
    let bucket = buckets.get(startMs);
    if (!bucket) {
      bucket = newBucket(startMs);
      buckets.set(startMs, bucket);
    }
    return bucket;
  }

  /** Moves all buckets to other starts. Buckets with the same new start are merged. */
  rebase(startOf: (startMs: number) => number): void {
    const before = [...this.#byName];
    this.#byName.clear();
    for (const [name, buckets] of before)
      for (const [startMs, bucket] of buckets) merge(this.bucketOf(name, startOf(startMs)), bucket);
  }

  /** Removes and returns as many buckets as one call can carry. */
  take(): NamedBucket[] {
    const taken: NamedBucket[] = [];
    for (const [name, buckets] of this.#byName) {
      if (taken.length + buckets.size > MAX_BUCKETS_PER_FLUSH && taken.length > 0) break;
      for (const [startMs, bucket] of buckets) {
        if (taken.length === MAX_BUCKETS_PER_FLUSH) return taken;
        taken.push({ name, bucket });
        buckets.delete(startMs);
      }
      this.#byName.delete(name);
    }
    return taken;
  }

  /** Iterates over all buckets without removing them. */
  *all(): Generator<NamedBucket> {
    for (const [name, buckets] of this.#byName) for (const bucket of buckets.values()) yield { name, bucket };
  }

  /** Removes and returns buckets that start before `startMs`. */
  takeBefore(startMs: number): NamedBucket[] {
    const taken: NamedBucket[] = [];
    for (const [name, buckets] of this.#byName) {
      for (const [beganMs, bucket] of buckets)
        if (beganMs < startMs) {
          taken.push({ name, bucket });
          buckets.delete(beganMs);
        }
      if (buckets.size === 0) this.#byName.delete(name);
    }
    return taken;
  }
}
