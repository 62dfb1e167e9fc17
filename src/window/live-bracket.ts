import { activeKernel } from "../kernel/choose.ts";
import type { Column } from "../kernel/contract.ts";
import { lowerBound, upperBound } from "./bounds.ts";
import { selectInRuns } from "./select-runs.ts";

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
export function drawBracket(runs: readonly Column[], count: number, first: number, last: number): Bracket {
  const low = first <= 0 ? -Infinity : selectInRuns(runs, first)[0];
  const high = last >= count - 1 ? Infinity : selectInRuns(runs, last)[0];
  const from = runs.map((run) => upperBound(run, low));
  const to = runs.map((run, r) => (high > low ? lowerBound(run, high, from[r]) : from[r]));
  let [below, upToLow, belowHigh, upToHigh] = [0, 0, 0, 0];
  for (const [r, run] of runs.entries()) {
    below += lowerBound(run, low, 0, from[r]);
    upToLow += from[r];
    belowHigh += to[r];
    upToHigh += high > low ? upperBound(run, high, to[r]) : to[r];
  }
  const between = gathered(runs, from, to, belowHigh - upToLow);
  return { low, high, below, lowCount: upToLow - below, highCount: upToHigh - belowHigh, between };
}

function gathered(runs: readonly Column[], from: readonly number[], to: readonly number[], count: number): Column {
  const column = runs[0] instanceof Float64Array ? new Float64Array(count) : new Float32Array(count);
  let at = 0;
  for (const [r, run] of runs.entries()) {
    column.set(run.subarray(from[r], to[r]), at);
    at += to[r] - from[r];
  }
  activeKernel().sort(column);
  return column;
}
