import { type Bracket, bracketsOf } from "./bracket.ts";
import type { Column } from "./contract.ts";
import type { Passes } from "./passes.ts";

/** At or below so many values, sorting is quicker than drawing a sample. */
const SMALL = 2048;
/** From so many ranks on, one sort is quicker than a selection each. */
const SORT_FROM = 4;
/** At or below so many collected values, sorting is quicker than narrowing once more. */
const FEW = 256;

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
  // The sample is drawn and put in order before the column takes its place in the form's memory.
  const brackets = bracketsOf(values, ranks, 1, 1, (sample) => passes.sorted(passes.hold(sample)));
  if (brackets === null) return null;
  const held = passes.hold(values);
  const answers: [number, number][] = [];
  for (const [i, k] of ranks.entries()) {
    const found =
      selectWithin(passes, held, n, k, brackets[i]!) ??
      selectAgain(passes, held, values, k) ??
      narrowDown(passes, held, n, k, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    if (found === "NaN") return null;
    answers.push(signZeros(passes, held, n, k, found));
  }
  return answers;
}

/** Data made for the first sample misleads it; nothing is made for this one. The column stays held. */
function selectAgain<H>(passes: Passes<H>, held: H, values: Column, k: number): [number, number] | "NaN" | null {
  const brackets = bracketsOf(values, [k], Math.floor(Math.random() * 2 ** 32), 1 / 4, (sample) => sample.sort());
  return brackets === null ? "NaN" : selectWithin(passes, held, values.length, k, brackets[0]!);
}

/** Null where the bracket does not hold the ranks, or holds most of the column. */
function selectWithin<H>(
  passes: Passes<H>,
  held: H,
  n: number,
  k: number,
  { low, high, first, last }: Bracket,
): [number, number] | "NaN" | null {
  const { below, allNumbers, count, inside } = passes.collect(held, first, last);
  if (!allNumbers) return "NaN";
  if (count > n / 2) return null;
  const upTo = below + count;
  const next = Math.min(k + 1, n - 1);
  const within = (rank: number) => narrowDown(passes, inside, count, rank - below, first, last);
  if (k >= below && next < upTo) return within(k);
  // Both ends are values of the column (or an infinity that nothing equals unless it is one), so ties need no copy.
  const fromLow = k < below ? passes.rank(held, low).below : 0;
  const beyond = next >= upTo ? upTo + passes.rank(held, high).equal : upTo;
  if (k < fromLow || next >= beyond) return null;
  if (k >= below && k < upTo) return [within(k)[0], high];
  if (k < below && next >= below && next < upTo) return [low, within(next)[0]];
  return [k < below ? low : high, next < below ? low : high];
}

/** Radix selection: each step keeps one of 2048 ranges of what is left, so a few steps do whatever the data. */
function narrowDown<H>(
  passes: Passes<H>,
  held: H,
  count: number,
  k: number,
  low: number,
  high: number,
): [number, number] {
  if (count <= FEW) {
    const sorted = passes.sorted(held);
    return [sorted[k]!, sorted[Math.min(k + 1, count - 1)]!];
  }
  const { before, found, first, last } = passes.narrow(held, k, low, high);
  if (found) return [first, last];
  const kept = passes.collect(held, first, last);
  return narrowDown(passes, kept.inside, kept.count, k - before, first, last);
}

/** Comparisons take -0 for +0: gives zeros the sign that the order of `sort` gives them. */
function signZeros<H>(passes: Passes<H>, held: H, n: number, k: number, pair: [number, number]): [number, number] {
  if (pair[0] !== 0 && pair[1] !== 0) return pair;
  const firstPositive = passes.rank(held, 0).below + passes.census(held).negativeZero;
  const signed = (x: number, rank: number) => (x !== 0 ? x : rank < firstPositive ? -0 : 0);
  return [signed(pair[0], k), signed(pair[1], Math.min(k + 1, n - 1))];
}
