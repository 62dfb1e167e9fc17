import { argumentErrorOf } from "../../base/site.ts";

/** Maximum number of buckets. A window of metrics with this many takes 72 MiB. */
const MAX_BUCKETS = 1_048_576;

/** Length of a bucket in ms. Throws ARGUMENT if `sampleCount` buckets do not divide `intervalMs` evenly. */
export function bucketLengthMs(sampleCount: number, intervalMs: number, structure: string): number {
  if (!Number.isSafeInteger(sampleCount) || sampleCount < 1 || sampleCount > MAX_BUCKETS)
    throw argumentErrorOf(structure, "sampleCount", sampleCount, `a whole number of buckets from 1 to ${MAX_BUCKETS}`);
  if (intervalMs % sampleCount !== 0)
    throw argumentErrorOf(
      structure,
      "interval",
      intervalMs,
      `a whole number of ms that ${sampleCount} buckets divide evenly`,
    );
  return intervalMs / sampleCount;
}

/** Start of the bucket of `timeMs`. Exact for fractions and before 1970. Throws ARGUMENT if the time is not finite. */
export function bucketStartMs(timeMs: number, lengthMs: number, structure: string): number {
  if (!Number.isFinite(timeMs)) throw argumentErrorOf(structure, "timeMs", timeMs, "ms since 1970, a finite number");
  const sinceMs = timeMs % lengthMs;
  return timeMs - sinceMs - (sinceMs < 0 ? lengthMs : 0);
}

/** Throws ARGUMENT if the time is not finite. */
export function checkTime(timeMs: number, structure: string): void {
  if (!Number.isFinite(timeMs)) throw argumentErrorOf(structure, "timeMs", timeMs, "ms since 1970, a finite number");
}
