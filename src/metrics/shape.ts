import { argumentErrorOf } from "../place.ts";

/** Far more than anyone reads at a time; a window of metrics then takes 72 MiB. */
const MOST_BUCKETS = 1_048_576;

/** Length in ms of one of `sampleCount` buckets that divide `intervalMs` evenly; throws ARGUMENT where they do not. */
export function bucketLengthMs(sampleCount: number, intervalMs: number, structure: string): number {
  if (!Number.isSafeInteger(sampleCount) || sampleCount < 1 || sampleCount > MOST_BUCKETS)
    throw argumentErrorOf(structure, "sampleCount", sampleCount, `a whole number of buckets from 1 to ${MOST_BUCKETS}`);
  if (intervalMs % sampleCount !== 0)
    throw argumentErrorOf(
      structure,
      "interval",
      intervalMs,
      `a whole number of ms that ${sampleCount} buckets divide evenly`,
    );
  return intervalMs / sampleCount;
}

/** Start of the bucket of `timeMs`, exact also for fractions and before 1970; throws ARGUMENT for what is no instant. */
export function bucketStartMs(timeMs: number, lengthMs: number, structure: string): number {
  if (!Number.isFinite(timeMs)) throw argumentErrorOf(structure, "timeMs", timeMs, "ms since 1970, a finite number");
  const sinceMs = timeMs % lengthMs;
  return timeMs - sinceMs - (sinceMs < 0 ? lengthMs : 0);
}

/** Throws ARGUMENT for what is no instant. For answers that look at no bucket of it. */
export function checkTime(timeMs: number, structure: string): void {
  if (!Number.isFinite(timeMs)) throw argumentErrorOf(structure, "timeMs", timeMs, "ms since 1970, a finite number");
}
