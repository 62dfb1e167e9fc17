import type { NanPolicy } from "../kernel/nan.ts";
import { interpolate } from "../kernel/percentile/interpolate.ts";
import { orderOf } from "../kernel/percentile/percentile.ts";
import type { StatsQuery } from "./window-query.ts";

/**
 * Exact statistics of the events inside one window; an empty one has count 0, sum 0 and NaN for the rest. `P` are the
 * percentiles asked for, where they are known when the program is compiled.
 */
export interface WindowStats<P extends number = number> {
  count: number;
  sum: number;
  mean: number;
  min: number;
  max: number;
  variance: number;
  std: number;
  /** By the percentile asked for. */
  percentiles: Record<P, number> & Record<number, number>;
  /** The window's edges, ms since 1970. */
  from: number;
  to: number;
  /** True when the answer may lack events, or the server's clock fell back; `degradedBy` says why. */
  degraded: boolean;
  degradedBy?: Degraded;
  /** How far off it may be, where the question accepted an error. */
  approximate?: Approximation;
}

/** The error that who asks accepts. */
export interface ApproximateOptions {
  /** By which share of the window's numbers the rank of a percentile may be wrong, from 0 to 0.5. */
  rankError: number;
}

/**
 * A percentile is the one asked for, or one whose rank is off by at most the share `rankError` of all. All else is that of
 * a window whose edges may lie a little aside, so that `events` at most are inside one of the two alone; 0: exact.
 */
export interface Approximation {
  rankError: number;
  events: number;
}

/**
 * "retention": the window reaches back further than the store keeps; "lost": older events should be there and are not, or
 * this process saw events that Redis has lost since (a failover);
 * "local": the store is or was out of reach (`onStoreError: "local"`): the answer is this process's alone, or lacks events
 * that it keeps or that the store may never get;
 * "clock": the server's clock is behind the last stamp, the series' time stands still.
 */
export type Degraded = "retention" | "lost" | "local" | "clock";

/** All of one window, wherever it was folded. */
export interface Folded {
  count: number;
  nanCount: number;
  /** Values that are numbers: finite and infinite. */
  validCount: number;
  /** Sum of the numbers; infinities as IEEE adds them. */
  sum: number;
  mean: number;
  min: number;
  max: number;
  variance(ddof: number): number;
  /** The order statistics of 0-based ranks k and k + 1 (k again at the end), for percentile `p`, over the numbers. */
  at(k: number, p: number): [number, number];
}

export function statsOf(
  fold: Folded,
  query: StatsQuery,
  nan: NanPolicy,
  fromMs: number,
  toMs: number,
  degradedBy: Degraded | undefined,
): WindowStats {
  const spoilt = fold.nanCount > 0 && nan !== "ignore";
  const count = nan === "ignore" ? fold.validCount : fold.count;
  const none = spoilt || count === 0;
  const variance = none ? Number.NaN : fold.variance(query.ddof);
  const stats: WindowStats = {
    count,
    sum: spoilt ? Number.NaN : fold.sum,
    mean: none ? Number.NaN : fold.mean,
    min: none ? Number.NaN : fold.min,
    max: none ? Number.NaN : fold.max,
    variance,
    std: Math.sqrt(variance),
    percentiles: {},
    from: fromMs,
    to: toMs,
    degraded: degradedBy !== undefined,
  };
  for (const p of query.percentiles) stats.percentiles[p] = none ? Number.NaN : percentileOf(fold, query, p);
  if (degradedBy) stats.degradedBy = degradedBy;
  return stats;
}

function percentileOf(fold: Folded, query: StatsQuery, p: number): number {
  const order = orderOf(query.method, fold.validCount, p);
  const [low, next] = fold.at(order.lower, p);
  return interpolate(order, low, order.upper === order.lower ? low : next);
}

/** Share of the window's numbers below `limit`; NaN for an empty or spoilt window. */
export function fractionOf(fold: Folded & { below(limit: number): number }, limit: number, nan: NanPolicy): number {
  if (fold.validCount === 0 || (fold.nanCount > 0 && nan !== "ignore")) return Number.NaN;
  return fold.below(limit) / fold.validCount;
}
