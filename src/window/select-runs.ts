import type { Column } from "../kernel/contract.ts";
import { lowerBound, upperBound } from "./bounds.ts";
import { quickselect } from "./quickselect.ts";

/** Up to this many candidates, gathering them and selecting among them beats another round of searches. */
const GATHER = 1024;

/** Stretches [low, high) of sorted runs, one each, and how many values lie before them in all. */
export interface Ranges {
  low: Int32Array;
  high: Int32Array;
  before: number;
}

function wholeRanges(runs: readonly Column[]): Ranges {
  return { low: new Int32Array(runs.length), high: Int32Array.from(runs, (run) => run.length), before: 0 };
}

/**
 * The values of 0-based ranks k and k + 1 (k again at the end) among sorted runs, without merging them; `ranges`, which
 * are used up, must hold rank k, and begin and end in every run at the same value.
 * Each round takes a pivot from the longest active stretch, first where the rank would lie if all runs were alike, then
 * (every other round, so that no data can stall it) at its middle, and keeps the side that holds rank k.
 * O(runs · log n) per round, O(log n) rounds expected.
 */
export function selectInRuns(runs: readonly Column[], k: number, ranges = wholeRanges(runs)): [number, number] {
  const { low, high } = ranges;
  const cut = new Int32Array(runs.length);
  let active = 0;
  for (let r = 0; r < runs.length; r++) active += high[r] - low[r];
  let rank = k - ranges.before;
  for (let round = 0; active > GATHER; round++) {
    const pivot = pivotOf(runs, low, high, round % 2 === 0 ? rank / active : 0.5);
    let below = 0;
    for (let r = 0; r < runs.length; r++) {
      cut[r] = lowerBound(runs[r], pivot, low[r], high[r]);
      below += cut[r] - low[r];
    }
    if (rank < below) {
      high.set(cut);
      active = below;
      continue;
    }
    low.set(cut);
    rank -= below;
    active -= below;
    let equal = 0;
    for (let r = 0; r < runs.length; r++) {
      cut[r] = upperBound(runs[r], pivot, low[r], high[r]);
      equal += cut[r] - low[r];
    }
    if (rank < equal) return [pivot, rank + 1 < equal ? pivot : smallest(runs, cut, pivot)];
    low.set(cut);
    rank -= equal;
    active -= equal;
  }
  return gathered(runs, low, high, rank, active);
}

function pivotOf(runs: readonly Column[], low: Int32Array, high: Int32Array, share: number): number {
  let longest = 0;
  for (let r = 1; r < runs.length; r++) if (high[r] - low[r] > high[longest] - low[longest]) longest = r;
  const length = high[longest] - low[longest];
  return runs[longest][low[longest] + Math.min(length - 1, Math.floor(share * length))];
}

/** The smallest value from the given places on: the successor of a pivot that was the last of its rank. */
function smallest(runs: readonly Column[], from: Int32Array, none: number): number {
  let least = Infinity;
  let found = false;
  for (let r = 0; r < runs.length; r++)
    if (from[r] < runs[r].length) {
      found = true;
      if (runs[r][from[r]] < least) least = runs[r][from[r]];
    }
  return found ? least : none;
}

function gathered(
  runs: readonly Column[],
  low: Int32Array,
  high: Int32Array,
  rank: number,
  active: number,
): [number, number] {
  const candidates = new Float64Array(active);
  let count = 0;
  for (let r = 0; r < runs.length; r++) {
    const run = runs[r];
    for (let i = low[r]; i < high[r]; i++) candidates[count++] = run[i];
  }
  const value = quickselect(candidates, rank);
  if (rank + 1 === active) return [value, smallest(runs, high, value)];
  let next = candidates[rank + 1];
  for (let i = rank + 2; i < active; i++) if (candidates[i] < next) next = candidates[i];
  return [value, next];
}
