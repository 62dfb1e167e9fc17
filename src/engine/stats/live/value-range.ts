import { runKernel } from "../../kernel/choose.ts";
import type { Column } from "../../kernel/contract.ts";
import type { Sorted } from "../runs/run.ts";
import { selectInRuns } from "../runs/select-runs.ts";

/** The numbers of a window from `low` to `high`, both included. */
export interface ValueRange {
  low: number;
  high: number;
  /** Count of numbers below `low`. */
  below: number;
  /** Counts of numbers equal to `low` and to `high`. If both are the same value, `highCount` is 0. */
  lowCount: number;
  highCount: number;
  /** The numbers above `low` and below `high`, ascending. */
  between: Column;
}

/**
 * The range of values at the 0-based ranks `first` to `last` of sorted runs with `count` numbers. A range that reaches
 * the first or the last rank is unbounded on that side. `between` has fewer than last - first numbers, because all
 * numbers equal to an end are only counted.
 */
export function rangeOfRanks(runs: readonly Sorted[], count: number, first: number, last: number): ValueRange {
  const low = first <= 0 ? Number.NEGATIVE_INFINITY : selectInRuns(runs, first)[0];
  const high = last >= count - 1 ? Number.POSITIVE_INFINITY : selectInRuns(runs, last)[0];
  const parts: Column[] = [];
  let [below, lowCount, highCount] = [0, 0, 0];
  for (const run of runs) {
    const { length } = run;
    const from = run.upperBound(low, 0, length);
    const to = high > low ? run.lowerBound(high, from, length) : from;
    const belowLow = run.lowerBound(low, 0, from);
    below += belowLow;
    lowCount += from - belowLow;
    highCount += high > low ? run.upperBound(high, to, length) - to : 0;
    parts.push(run.part(from, to));
  }
  return { low, high, below, lowCount, highCount, between: sortedColumn(parts) };
}

/** All parts, each of the same type and without NaN, as one sorted column. Cost: one sort. */
export function sortedColumn(parts: readonly Column[]): Column {
  const count = parts.reduce((sum, part) => sum + part.length, 0);
  const column = parts[0] instanceof Float64Array ? new Float64Array(count) : new Float32Array(count);
  let at = 0;
  for (const part of parts) {
    column.set(part, at);
    at += part.length;
  }
  runKernel().sort(column);
  return column;
}
