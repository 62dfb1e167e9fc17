import type { Column } from "./contract.ts";
import type { Passes } from "./passes.ts";

/** At or below so many values, sorting a copy is quicker than drawing a sample. */
const SMALL = 2048;

/**
 * The k-th smallest and its successor, by a sampled bracket: the sorted sample gives two values between which rank k
 * most likely lies, one pass counts and copies what is strictly between them, a sort of that little gives the answer.
 * When the sample misled, a sort of a copy: linear whatever the data. Expected n + o(n) comparisons (Floyd, Rivest 1975).
 */
export function selectRank<H>(passes: Passes<H>, values: Column, k: number): [number, number] {
  if (values.length <= SMALL) return fromSorted(passes, values, k);
  const [low, high] = bracketOf(passes, values, k);
  const held = passes.hold(values);
  const { atMost, inside } = passes.collect(held, low, high);
  // Both limits are values of the column (or an infinity that nothing equals unless it is one), so ties need no copy.
  const beforeLow = k < atMost ? passes.rank(held, low).below : 0;
  const upTo = atMost + inside.length;
  const last = Math.min(k + 1, values.length - 1);
  const beyond = last >= upTo ? upTo + passes.rank(held, high).equal : upTo;
  if (k < beforeLow || last >= beyond) return fromSorted(passes, values, k);
  passes.sort(inside);
  const valueAt = (rank: number) => (rank < atMost ? low : rank < upTo ? inside[rank - atMost]! : high);
  return signZeros(passes, values, k, [valueAt(k), valueAt(last)]);
}

function fromSorted<H>(passes: Passes<H>, values: Column, k: number): [number, number] {
  const copy = values.slice();
  passes.sort(copy);
  return [copy[k]!, copy[Math.min(k + 1, copy.length - 1)]!];
}

/** Two values of the column between which rank k lies with all but certainty (4 standard deviations and 2 ranks). */
function bracketOf<H>(passes: Passes<H>, values: Column, k: number): [number, number] {
  const n = values.length;
  const q = (k + 0.5) / n;
  const deviation = Math.sqrt(q * (1 - q));
  const size = Math.floor(Math.min(16384, Math.max(256, ((n / 2) * deviation) ** (2 / 3))));
  const sample = values instanceof Float32Array ? new Float32Array(size) : new Float64Array(size);
  const stride = n / size;
  // One value from each stride, at a place that no period in the data can follow.
  let random = 1;
  for (let i = 0; i < size; i++) {
    random = (Math.imul(1664525, random) + 1013904223) >>> 0;
    sample[i] = values[Math.min(n - 1, Math.floor((i + random * 2 ** -32) * stride))]!;
  }
  passes.sort(sample);
  const centre = q * size;
  const slack = 4 * deviation * Math.sqrt(size) + 2;
  const from = Math.floor(centre - slack);
  const to = Math.ceil(centre + slack);
  return [from < 0 ? Number.NEGATIVE_INFINITY : sample[from]!, to >= size ? Number.POSITIVE_INFINITY : sample[to]!];
}

/** Comparisons take -0 for +0: gives zeros the sign that the order of `sort` gives them. */
function signZeros<H>(passes: Passes<H>, values: Column, k: number, pair: [number, number]): [number, number] {
  if (pair[0] !== 0 && pair[1] !== 0) return pair;
  const held = passes.hold(values);
  const firstPositive = passes.rank(held, 0).below + passes.census(held).negativeZero;
  const signed = (x: number, rank: number) => (x !== 0 ? x : rank < firstPositive ? -0 : 0);
  return [signed(pair[0], k), signed(pair[1], Math.min(k + 1, values.length - 1))];
}
