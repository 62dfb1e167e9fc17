import type { Column } from "../contract.ts";
import { bracketOf, type SampledBracket, sampleSize } from "./bracket.ts";
import { narrowDown, numberPair, type Tally } from "./narrow.ts";
import type { Passes } from "./passes.ts";

/** Up to this many values, sorting is faster than a sample. */
const MAX_SORTED = 2048;
/** For this many ranks or more, one sort is faster than a selection each. */
const MIN_RANKS_TO_SORT = 4;

/**
 * The values at ranks k and k + 1 (k again at the end) for each rank k; null if there is a NaN.
 * A small or much-queried column is sorted. Otherwise a sample gives a bracket for each rank. One pass counts and copies
 * the values inside, and `narrowDown` selects among them (Floyd and Rivest 1975: n + o(n) comparisons). If the bracket
 * misses, `narrowDown` selects from the whole column, by another sample or by radix. The cost is linear in any case.
 */
export function selectRanks<H>(passes: Passes<H>, values: Column, ranks: readonly number[]): [number, number][] | null {
  const n = values.length;
  if (n <= MAX_SORTED || ranks.length >= MIN_RANKS_TO_SORT) {
    const sorted = passes.sorted(passes.hold(values));
    if (n > 0 && Number.isNaN(sorted[n - 1]!)) return null;
    return ranks.map((k) => [sorted[k]!, sorted[Math.min(k + 1, n - 1)]!]);
  }
  const shares = ranks.map((k) => (k + 0.5) / n);
  const held = passes.hold(values);
  const sample = passes.sample(held, sampleSize(n, shares), 1);
  if (Number.isNaN(sample.at(-1))) return null;
  const brackets = shares.map((share) => bracketOf(sample, share));
  const answers: [number, number][] = [];
  for (const [i, k] of ranks.entries()) {
    const found =
      selectWithin(passes, held, n, k, brackets[i]!) ??
      narrowDown(passes, held, n, k, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    if (found === "NaN") return null;
    answers.push(signZeros(passes, held, n, k, found));
  }
  return answers;
}

/** Null if the ranks are outside the bracket, or most of the column is inside. */
function selectWithin<H>(
  passes: Passes<H>,
  held: H,
  n: number,
  k: number,
  bracket: SampledBracket,
): [number, number] | "NaN" | null {
  const { low, high, first, last } = bracket;
  if (first > last && low === high) {
    const { below, equal, above } = passes.rank(held, low);
    if (below + equal + above < n) return "NaN";
    return k >= below && Math.min(k + 1, n - 1) < below + equal ? [low, low] : null;
  }
  const { below, allNumbers, count, inside } = passes.collect(held, first, last);
  if (!allNumbers) return "NaN";
  if (count > n / 2) return null;
  const tally: Tally<H> = { lowBelow: below, below, upTo: below + count, highUpTo: below + count, inside };
  // Both ends are values of the column, or infinities. Values equal to an end are counted and not copied.
  if (k < below && first > low) tally.lowBelow = passes.rank(held, low).below;
  if (Math.min(k + 1, n - 1) >= tally.upTo && last < high) tally.highUpTo += passes.rank(held, high).equal;
  return numberPair(passes, tally, bracket, n, k);
}

/** Sets the sign of zeros, as `sort` orders them. Comparisons treat -0 and +0 as equal. */
function signZeros<H>(passes: Passes<H>, held: H, n: number, k: number, pair: [number, number]): [number, number] {
  if (pair[0] !== 0 && pair[1] !== 0) return pair;
  const firstPositive = passes.rank(held, 0).below + passes.census(held).negativeZero;
  const signed = (x: number, rank: number) => (x !== 0 ? x : rank < firstPositive ? -0 : 0);
  return [signed(pair[0], k), signed(pair[1], Math.min(k + 1, n - 1))];
}
