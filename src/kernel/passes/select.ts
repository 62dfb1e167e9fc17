import type { Column } from "../contract.ts";
import { type Bracket, bracketOf, sampleSize } from "./bracket.ts";
import { narrowDown } from "./narrow.ts";
import type { Passes } from "./passes.ts";
import { numberPair, type Tally } from "./tally.ts";

/** At or below so many values, sorting is quicker than drawing a sample. */
const SMALL = 2048;
/** From so many ranks on, one sort is quicker than a selection each. */
const SORT_FROM = 4;

/**
 * For each rank k the k-th smallest and its successor (k + 1, or the same at the end); null when there is a NaN. By a
 * sampled bracket: one pass counts and copies what lies inside, a radix selection from that little gives the answer
 * (Floyd, Rivest 1975: n + o(n) comparisons). Where the sample misled, another is drawn; where that misled too, a radix
 * selection from all: linear in any case.
 */
export function selectRanks<H>(passes: Passes<H>, values: Column, ranks: readonly number[]): [number, number][] | null {
  const n = values.length;
  if (n <= SMALL || ranks.length >= SORT_FROM) {
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

/** Null where the bracket does not hold the ranks, or holds most of the column. */
function selectWithin<H>(
  passes: Passes<H>,
  held: H,
  n: number,
  k: number,
  bracket: Bracket,
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
  // Both ends are values of the column (or an infinity that nothing equals unless it is one), so ties need no copy.
  if (k < below && first > low) tally.lowBelow = passes.rank(held, low).below;
  if (Math.min(k + 1, n - 1) >= tally.upTo && last < high) tally.highUpTo += passes.rank(held, high).equal;
  return numberPair(passes, tally, bracket, n, k);
}

/** Comparisons take -0 for +0: gives zeros the sign that the order of `sort` gives them. */
function signZeros<H>(passes: Passes<H>, held: H, n: number, k: number, pair: [number, number]): [number, number] {
  if (pair[0] !== 0 && pair[1] !== 0) return pair;
  const firstPositive = passes.rank(held, 0).below + passes.census(held).negativeZero;
  const signed = (x: number, rank: number) => (x !== 0 ? x : rank < firstPositive ? -0 : 0);
  return [signed(pair[0], k), signed(pair[1], Math.min(k + 1, n - 1))];
}
