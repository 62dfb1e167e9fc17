import { bracketOf, sampleSize } from "./bracket.ts";
import type { Passes } from "./passes.ts";

/** At or below so many values, sorting is quicker than narrowing once more; above so many, a sample is quicker. */
const FEW = 256;
const MANY = 4096;

/**
 * Ranks k and k + 1 (k again at the end) of values from `low` to `high` without NaN; zeros may have the wrong sign. A sample
 * tells where to look, and again; where it misled, a radix selection does: each step keeps one of 2048 ranges of what is
 * left, so a few steps do whatever the data.
 */
export function narrowDown<H>(
  passes: Passes<H>,
  held: H,
  count: number,
  k: number,
  low: number,
  high: number,
): [number, number] {
  if (low === high) return [low, low];
  if (count <= FEW) {
    const sorted = passes.sorted(held);
    return [sorted[k]!, sorted[Math.min(k + 1, count - 1)]!];
  }
  const sampled = count > MANY ? bySample(passes, held, count, k, low, high) : null;
  if (sampled !== null) return sampled;
  const { before, found, first, last } = passes.narrow(held, k, low, high);
  if (found) return [first, last];
  const kept = passes.collect(held, first, last);
  return narrowDown(passes, kept.inside, kept.count, k - before, first, last);
}

/** Null where the sample misled, or most values are alike. Data made to mislead it cannot know the seed. */
function bySample<H>(
  passes: Passes<H>,
  held: H,
  count: number,
  k: number,
  low: number,
  high: number,
): [number, number] | null {
  const share = (k + 0.5) / count;
  const sample = passes.sample(held, sampleSize(count, [share]), Math.floor(Math.random() * 2 ** 32));
  const bracket = bracketOf(sample, share);
  const first = Math.max(low, bracket.low);
  const last = Math.min(high, bracket.high);
  const { below, count: kept, inside } = passes.collect(held, first, last);
  if (k < below || Math.min(k + 1, count - 1) >= below + kept || kept > count / 2) return null;
  return narrowDown(passes, inside, kept, k - below, first, last);
}
