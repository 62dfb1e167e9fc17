import { bracketOf, type SampledBracket, sampleSize } from "./bracket.ts";
import type { Passes } from "./passes.ts";

/** Up to this many values, sorting is fastest. */
const MAX_SORTED = 256;
/** Above this many values, a sample is faster than radix selection. */
const MAX_RADIX = 4096;

/**
 * The values at ranks k and k + 1 (k again at the end) of values from `low` to `high` without NaN. Zeros may have the
 * wrong sign. A sample gives a bracket around the rank, repeatedly, while many values are left. If the bracket misses,
 * one step of a radix selection follows, which keeps one of 2048 ranges. A few steps suffice for any data.
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
  if (count <= MAX_SORTED) {
    const sorted = passes.sorted(held);
    return [sorted[k]!, sorted[Math.min(k + 1, count - 1)]!];
  }
  const sampled = count > MAX_RADIX ? bySample(passes, held, count, k, low, high) : null;
  if (sampled !== null) return sampled;
  const { before, found, first, last } = passes.narrow(held, k, low, high);
  if (found) return [first, last];
  const kept = passes.collect(held, first, last);
  return narrowDown(passes, kept.inside, kept.count, k - before, first, last);
}

/** Null if the bracket misses the rank, or has most of the values. The random seed protects from adversarial data. */
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

/**
 * The counts of a pass around a bracket. `inside` is the collected values. Ranks in the order of values:
 *
 *   | below low | equal to low, if not collected    | collected | equal to high, if not collected    | above |
 *            lowBelow                             below       upTo                                highUpTo
 */
export interface Tally<H> {
  lowBelow: number;
  below: number;
  upTo: number;
  highUpTo: number;
  inside: H;
}

/** The values at ranks k and k + 1 (k again at the end) of n; null if one is outside. Uses up `inside`. */
export function numberPair<H>(
  passes: Passes<H>,
  { lowBelow, below, upTo, highUpTo, inside }: Tally<H>,
  { low, high, first, last }: SampledBracket,
  n: number,
  k: number,
): [number, number] | null {
  const next = Math.min(k + 1, n - 1);
  if (k < lowBelow || next >= highUpTo) return null;
  const within = (rank: number) => narrowDown(passes, inside, upTo - below, rank - below, first, last);
  if (k >= below && k < upTo) return next < upTo ? within(k) : [within(k)[0], high];
  if (k < below && next >= below && next < upTo) return [low, within(next)[0]];
  return [k < below ? low : high, next < below ? low : high];
}
