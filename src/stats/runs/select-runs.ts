import type { Column } from "../../kernel/contract.ts";
import type { Sorted } from "./run.ts";

/** Up to this many candidates, gathering them and selecting among them beats another round of searches. */
const GATHER = 1024;

/** Stretches [low, high) of the runs that may hold the rank, and the places of a pivot in them; used anew by each call. */
let low = new Int32Array(64);
let high = new Int32Array(64);
let cut = new Int32Array(64);
const candidates = new Float64Array(GATHER);

/**
 * The values of 0-based ranks k and k + 1 (k again at the end) among sorted runs, without merging them.
 * Each round takes a pivot from the longest active stretch, first where the rank would lie if all runs were alike, then
 * (every other round, so that no data can stall it) at its middle, and keeps the side that holds rank k.
 * O(runs · log n) per round, O(log n) rounds expected.
 */
export function selectInRuns(runs: readonly Sorted[], k: number): [number, number] {
  let active = begin(runs);
  let rank = k;
  for (let round = 0; active > GATHER; round++) {
    const pivot = pivotOf(runs, round % 2 === 0 ? rank / active : 0.5);
    let below = 0;
    for (let r = 0; r < runs.length; r++) {
      cut[r] = lowerBound(runs[r].sorted, pivot, low[r], high[r]);
      below += cut[r] - low[r];
    }
    if (rank < below) {
      [high, cut] = [cut, high];
      active = below;
      continue;
    }
    [low, cut] = [cut, low];
    rank -= below;
    active -= below;
    let equal = 0;
    for (let r = 0; r < runs.length; r++) {
      cut[r] = upperBound(runs[r].sorted, pivot, low[r], high[r]);
      equal += cut[r] - low[r];
    }
    if (rank < equal) return [pivot, rank + 1 < equal ? pivot : smallest(runs, cut, pivot)];
    [low, cut] = [cut, low];
    rank -= equal;
    active -= equal;
  }
  return gathered(runs, rank, active);
}

/** All of every run; answers how many values that are. */
function begin(runs: readonly Sorted[]): number {
  if (low.length < runs.length) [low, high, cut] = [0, 0, 0].map(() => new Int32Array(2 * runs.length));
  let active = 0;
  for (let r = 0; r < runs.length; r++) {
    low[r] = 0;
    high[r] = runs[r].length;
    active += runs[r].length;
  }
  return active;
}

function pivotOf(runs: readonly Sorted[], share: number): number {
  let longest = 0;
  for (let r = 1; r < runs.length; r++) if (high[r] - low[r] > high[longest] - low[longest]) longest = r;
  const length = high[longest] - low[longest];
  return runs[longest].sorted[low[longest] + Math.min(length - 1, Math.floor(share * length))];
}

/** The smallest value from the given places on: the successor of a pivot that was the last of its rank. */
function smallest(runs: readonly Sorted[], from: Int32Array, none: number): number {
  let least = Infinity;
  let found = false;
  for (let r = 0; r < runs.length; r++)
    if (from[r] < runs[r].length) {
      found = true;
      if (runs[r].sorted[from[r]] < least) least = runs[r].sorted[from[r]];
    }
  return found ? least : none;
}

function gathered(runs: readonly Sorted[], rank: number, active: number): [number, number] {
  let count = 0;
  for (let r = 0; r < runs.length; r++) {
    const { sorted } = runs[r];
    for (let i = low[r]; i < high[r]; i++) candidates[count++] = sorted[i];
  }
  const value = quickselect(candidates, rank, active);
  if (rank + 1 === active) return [value, smallest(runs, high, value)];
  let next = candidates[rank + 1];
  for (let i = rank + 2; i < active; i++) if (candidates[i] < next) next = candidates[i];
  return [value, next];
}

/**
 * The k-th smallest of the first `count` values, which are rearranged: no smaller one lies behind it, no larger one before it.
 * Hoare's FIND (1961) with the median of three as pivot; where that shrinks too slowly, the rest is sorted, so that no
 * data makes it quadratic. No NaN.
 */
export function quickselect(values: Float64Array, k: number, count = values.length): number {
  let low = 0;
  let high = count - 1;
  for (let rounds = 32; low < high; rounds--) {
    if (rounds === 0) {
      values.subarray(low, high + 1).sort();
      break;
    }
    const pivot = medianOfThree(values[low], values[(low + high) >>> 1], values[high]);
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      const swapped = values[i];
      values[i++] = values[j];
      values[j--] = swapped;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return values[k];
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** Index of the first element of the sorted stretch that is not below `limit`; `to` when there is none. */
export function lowerBound(sorted: Column, limit: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first element of the sorted stretch that is above `limit`; `to` when there is none. */
export function upperBound(sorted: Column, limit: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
