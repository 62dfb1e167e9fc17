import { type Duration, durationMs } from "../../base/time.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import { type FoldedWindow, windowUntil } from "./window-folds.ts";
import {
  type DefaultPercentiles,
  STATS_OPTIONS,
  type StatsOptions,
  type StatsQuery,
  statsQuery,
} from "./window-query.ts";
import { type Degraded, statsOf, type WindowAggregates, type WindowStats } from "./window-stats.ts";

/** Two windows of one length, and the statistics to compute. */
export interface CompareOptions<P extends readonly number[] = DefaultPercentiles> extends StatsOptions<P> {
  /** Length of each window. */
  span: Duration;
  /** How long before the window the earlier one ends. Together with the span at most the retention. */
  before: Duration;
}

/** The statistics of a window beside those of an earlier one. */
export interface Comparison<P extends number = number> {
  current: WindowStats<P>;
  earlier: WindowStats<P>;
  /** How much higher each percentile is now than it was. NaN if one of the windows is empty. */
  shifts: Record<P, number>;
  /** Each percentile now, divided by what it was. NaN if one of the windows is empty. */
  ratios: Record<P, number>;
}

/** A checked comparison. `spanMs` is how far back it needs events. */
export interface CompareQuery extends StatsQuery {
  lengthMs: number;
  beforeMs: number;
}

export function compareQuery(options: CompareOptions<readonly number[]>, retentionMs: number): CompareQuery {
  const query = statsQuery(options, retentionMs, "at", [...STATS_OPTIONS, "before"]);
  const lengthMs = durationMs("span", options.span, 1, retentionMs - 1);
  const beforeMs = durationMs("before", options.before, 1, retentionMs - lengthMs);
  return { ...query, spanMs: lengthMs + beforeMs, lengthMs, beforeMs };
}

/** Both windows end before or at `toMs`. The numbers of each are those of `stats`. */
export function comparisonOf(
  query: CompareQuery,
  toMs: number,
  nan: NanPolicy,
  aggregatesOf: (window: FoldedWindow) => WindowAggregates,
  degradedBy: (fromMs: number) => Degraded | undefined,
): Comparison {
  const { lengthMs: spanMs, beforeMs } = query;
  const statsUntil = (endMs: number, atMs: number | undefined) => {
    const window = windowUntil(endMs, { ...query, spanMs, atMs });
    return statsOf(aggregatesOf(window), query, nan, window.fromMs, endMs, degradedBy(window.fromMs));
  };
  const [current, earlier] = [statsUntil(toMs, query.atMs), statsUntil(toMs - beforeMs, toMs - beforeMs)];
  const compared = (compare: (now: number, then: number) => number) =>
    Object.fromEntries(
      query.percentiles.map((p) => [p, compare(current.percentiles[p]!, earlier.percentiles[p]!)]),
    ) as Record<number, number>;
  return {
    current,
    earlier,
    shifts: compared((now, then) => now - then),
    ratios: compared((now, then) => now / then),
  };
}
