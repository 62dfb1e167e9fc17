import type { Sorted } from "./run.ts";

/** Up to this many candidates are copied and selected from. More are narrowed down by another round of searches. */
const MAX_GATHERED = 1024;

/** The part of each run, from `low` to before `high`, that may contain the rank. `cut` is the index of a pivot in it. */
let low = new Int32Array(64);
let high = new Int32Array(64);
let cut = new Int32Array(64);
const candidates = new Float64Array(MAX_GATHERED);

/**
 * The values at the 0-based ranks k and k + 1 (k again at the end) of sorted runs, without merging the runs.
 * Each round takes a pivot from the longest remaining part, cuts all parts at it by binary search, and keeps the side
 * with rank k. In even rounds the pivot lies where the rank would be if all runs were alike. In odd rounds it is the
 * median of the part, so the part is at least halved whatever the data.
 * Cost: O(runs · log n) per round, O(log n) rounds expected. The problem is selection in sorted columns (Frederickson
 * and Johnson 1982).
 */
export function selectInRuns(runs: readonly Sorted[], k: number): [number, number] {
  let active = begin(runs);
  let rank = k;
  for (let round = 0; active > MAX_GATHERED; round++) {
    const pivot = pivotOf(runs, round % 2 === 0 ? rank / active : 0.5);
    const below = cutAt(runs, pivot, "lowerBound");
    if (rank < below) {
      [high, cut] = [cut, high];
      active = below;
      continue;
    }
    [low, cut] = [cut, low];
    rank -= below;
    active -= below;
    const equal = cutAt(runs, pivot, "upperBound");
    if (rank < equal) return [pivot, rank + 1 < equal ? pivot : smallestFrom(runs, cut, pivot)];
    [low, cut] = [cut, low];
    rank -= equal;
    active -= equal;
  }
  return selectGathered(runs, rank, active);
}

/** Makes each whole run a candidate. Returns the number of values. */
function begin(runs: readonly Sorted[]): number {
  if (low.length < runs.length) {
    low = new Int32Array(2 * runs.length);
    high = new Int32Array(2 * runs.length);
    cut = new Int32Array(2 * runs.length);
  }
  let active = 0;
  let r = 0;
  for (const { length } of runs) {
    low[r] = 0;
    high[r++] = length;
    active += length;
  }
  return active;
}

/** Cuts each part at `pivot`. Returns how many values are before the cuts. */
function cutAt(runs: readonly Sorted[], pivot: number, bound: "lowerBound" | "upperBound"): number {
  let before = 0;
  for (let r = 0; r < runs.length; r++) {
    const run = runs[r]!;
    const at =
      bound === "lowerBound" ? run.lowerBound(pivot, low[r]!, high[r]!) : run.upperBound(pivot, low[r]!, high[r]!);
    cut[r] = at;
    before += at - low[r]!;
  }
  return before;
}

function pivotOf(runs: readonly Sorted[], share: number): number {
  let longest = 0;
  let length = 0;
  for (let r = 0; r < runs.length; r++)
    if (high[r]! - low[r]! > length) {
      longest = r;
      length = high[r]! - low[r]!;
    }
  return runs[longest]!.at(low[longest]! + Math.min(length - 1, Math.floor(share * length)));
}

/** The smallest value at or after the given indexes; `fallback` if there is none. */
function smallestFrom(runs: readonly Sorted[], from: Int32Array, fallback: number): number {
  let smallest = Number.POSITIVE_INFINITY;
  let isFound = false;
  for (let r = 0; r < runs.length; r++) {
    const run = runs[r]!;
    if (from[r]! >= run.length) continue;
    isFound = true;
    smallest = Math.min(smallest, run.at(from[r]!));
  }
  return isFound ? smallest : fallback;
}

function selectGathered(runs: readonly Sorted[], rank: number, active: number): [number, number] {
  let count = 0;
  for (let r = 0; r < runs.length; r++) {
    runs[r]!.copyTo(candidates, count, low[r]!, high[r]!);
    count += high[r]! - low[r]!;
  }
  const value = quickselect(candidates, rank, active);
  if (rank + 1 === active) return [value, smallestFrom(runs, high, value)];
  let next = candidates[rank + 1]!;
  for (let i = rank + 2; i < active; i++) if (candidates[i]! < next) next = candidates[i]!;
  return [value, next];
}

/**
 * The k-th smallest (0-based) of the first `count` values, without NaN. Rearranges them: afterwards no value before
 * index k is larger, and none after it is smaller.
 * Hoare's FIND (1961), with the median of three values as pivot. After 32 rounds the rest is sorted, so no data makes
 * it quadratic.
 */
export function quickselect(values: Float64Array, k: number, count = values.length): number {
  let low = 0;
  let high = count - 1;
  for (let rounds = 32; low < high; rounds--) {
    if (rounds === 0) {
      values.subarray(low, high + 1).sort();
      break;
    }
    const pivot = medianOfThree(values[low]!, values[(low + high) >>> 1]!, values[high]!);
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i > j) break;
      const swapped = values[i]!;
      values[i++] = values[j]!;
      values[j--] = swapped;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return values[k]!;
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
