/** How far an answer is from the exact percentile. */
export interface PercentileError {
  /** Of the value, in percent of the exact one. */
  valuePercent: number;
  /** Of the rank, in percent of the events. */
  rankPercent: number;
}

/** The errors of `answer` as percentile `p` of `sorted`, whose exact percentile is `exact`. */
export function errorOf(sorted: Float32Array, p: number, exact: number, answer: number): PercentileError {
  const rank = (p * (sorted.length - 1)) / 100;
  const before = countBelow(sorted, (value) => value < answer);
  const through = countBelow(sorted, (value) => value <= answer);
  // An answer has the ranks of all values that equal it. One between two values has all ranks between theirs.
  const [first, last] = through > before ? [before, through - 1] : [before - 1, before];
  const ranks = Math.max(0, first - rank, rank - last);
  return { valuePercent: Math.abs(answer / exact - 1) * 100, rankPercent: (ranks / sorted.length) * 100 };
}

/** How many values come before the first one that is not below. */
function countBelow(sorted: Float32Array, isBelow: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(sorted[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}
