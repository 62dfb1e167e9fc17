import { activeKernel } from "../../kernel/choose.ts";
import type { Column } from "../../kernel/contract.ts";
import type { Sorted } from "../runs/run.ts";
import { lowerBound, selectInRuns, upperBound } from "../runs/select-runs.ts";

/** What a window holds between two values, both included. */
export interface Bracket {
  low: number;
  high: number;
  /** How many numbers are below `low`. */
  below: number;
  /** How many equal `low`, and how many `high`; 0 for `high` where both are the same. */
  lowCount: number;
  highCount: number;
  /** Those above `low` and below `high`, ascending. */
  between: Column;
}

/**
 * The bracket of ranks `first` to `last` (0-based) among the `count` numbers of sorted runs. One that reaches an end
 * includes whatever may come there. `between` holds fewer than last - first numbers, however many are equal.
 */
export function drawBracket(runs: readonly Sorted[], count: number, first: number, last: number): Bracket {
  const low = first <= 0 ? -Infinity : selectInRuns(runs, first)[0];
  const high = last >= count - 1 ? Infinity : selectInRuns(runs, last)[0];
  const from = runs.map(({ sorted, length }) => upperBound(sorted, low, 0, length));
  const to = runs.map(({ sorted, length }, r) => (high > low ? lowerBound(sorted, high, from[r], length) : from[r]));
  let [below, upToLow, belowHigh, upToHigh] = [0, 0, 0, 0];
  for (const [r, { sorted, length }] of runs.entries()) {
    below += lowerBound(sorted, low, 0, from[r]);
    upToLow += from[r];
    belowHigh += to[r];
    upToHigh += high > low ? upperBound(sorted, high, to[r], length) : to[r];
  }
  const between = gathered(runs, from, to, belowHigh - upToLow);
  return { low, high, below, lowCount: upToLow - below, highCount: upToHigh - belowHigh, between };
}

function gathered(runs: readonly Sorted[], from: readonly number[], to: readonly number[], count: number): Column {
  const column = runs[0]?.sorted instanceof Float64Array ? new Float64Array(count) : new Float32Array(count);
  let at = 0;
  for (const [r, { sorted }] of runs.entries()) {
    column.set(sorted.subarray(from[r], to[r]), at);
    at += to[r] - from[r];
  }
  activeKernel().sort(column);
  return column;
}
