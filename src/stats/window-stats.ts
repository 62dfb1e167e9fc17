import type { Column } from "../kernel/contract.ts";
import { meanOf } from "../kernel/double-double.ts";
import { withInfinities } from "../kernel/moments.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import { interpolate } from "../kernel/percentile/interpolate.ts";
import { orderOf } from "../kernel/percentile/percentile.ts";
import type { Brackets } from "./runs/brackets.ts";
import { Accumulator, type CachedAggregate, type Run, type Sorted, scaledMoments } from "./runs/run.ts";
import { lowerBound, selectInRuns } from "./runs/select-runs.ts";
import type { StatsQuery } from "./window-query.ts";

/**
 * Exact statistics of the events inside one window. An empty window has count 0, sum 0 and NaN for the rest.
 * `P` is the union of the requested percentiles if they are known at compile time.
 */
export interface WindowStats<P extends number = number> {
  count: number;
  sum: number;
  mean: number;
  min: number;
  max: number;
  variance: number;
  std: number;
  /** Exactly the requested percentiles, each under its number. */
  percentiles: Record<P, number>;
  /** The window's edges, ms since 1970. */
  from: number;
  to: number;
  /** True if the answer may lack events or the server's clock went back. `degradedBy` is the reason. */
  degraded: boolean;
  degradedBy?: Degraded;
  /** The error bounds of the answer, if the query accepted an error. */
  approximate?: Approximation;
}

/** The error that the caller accepts. */
export interface ApproximateOptions {
  /** Maximum error of a percentile's rank, as a share of the window's numbers, from 0 to 0.5. */
  rankError: number;
}

/**
 * Error bounds of an approximate answer. The rank of each percentile is off by at most `rankError`, a share of all
 * numbers. The other statistics belong to a window with slightly shifted edges: at most `events` events are inside only
 * one of the two windows. If `events` is 0, these statistics are exact.
 */
export interface Approximation {
  rankError: number;
  events: number;
}

/**
 * Why an answer may be incomplete.
 * - "retention": the window begins before the oldest time that is kept.
 * - "lost": older events are missing, or Redis has lost events that this process saw (a failover).
 * - "local": the store is or was unreachable (`onStoreError: "local"`). The answer covers this process only, or lacks
 *   events that this process still buffers or that may never reach the store.
 * - "clock": the server's clock is behind the last timestamp, so the time of the series stands still.
 */
export type Degraded = "retention" | "lost" | "local" | "clock";

/** The aggregates of one window, folded in this process or on the server. */
export interface Folded {
  count: number;
  nanCount: number;
  /** Number of values other than NaN, infinities included. */
  validCount: number;
  /** Sum of the values other than NaN; infinities add as in IEEE 754. */
  sum: number;
  mean: number;
  min: number;
  max: number;
  variance(ddof: number): number;
  /** The values at the 0-based ranks k and k + 1 (k again at the end), NaN excluded, for percentile `p`. */
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

/** Share of the window's numbers below `limit`. NaN if the window is empty, or has NaN that is not ignored. */
export function fractionOf(fold: Folded & { below(limit: number): number }, limit: number, nan: NanPolicy): number {
  if (fold.validCount === 0 || (fold.nanCount > 0 && nan !== "ignore")) return Number.NaN;
  return fold.below(limit) / fold.validCount;
}

/** All of one window: a aggregate, where one is known, and the runs around it. */
export class Fold {
  readonly #sum = new Accumulator();
  readonly #aggregate: CachedAggregate | undefined;
  readonly #brackets: Brackets | undefined;
  readonly #runs: Run[] = [];

  /** `brackets`: where percentiles lay when a window with a aggregate was last asked for. */
  constructor(aggregate?: CachedAggregate, brackets?: Brackets) {
    this.#aggregate = aggregate;
    this.#brackets = brackets;
    if (aggregate) this.#sum.add(aggregate.total);
  }

  /** `run` must stay as it is until the last answer. */
  add(run: Run): void {
    this.#sum.add(run);
    this.#runs.push(run);
  }

  get count(): number {
    return this.#sum.count;
  }

  get nanCount(): number {
    return this.#sum.nanCount;
  }

  get min(): number {
    return this.#sum.min;
  }

  get max(): number {
    return this.#sum.max;
  }

  /** Values that are numbers: finite and infinite. */
  get validCount(): number {
    return this.#sum.count - this.#sum.nanCount;
  }

  /** Sum of the numbers; infinities as IEEE adds them. */
  get sum(): number {
    return this.#infinite(this.overflowed ? scaledMoments(this.#columns).sum : this.#sum.sumHigh + this.#sum.sumLow);
  }

  get mean(): number {
    if (this.validCount === 0) return Number.NaN;
    const { sumHigh, sumLow, finiteCount } = this.#sum;
    return this.#infinite(this.overflowed ? scaledMoments(this.#columns).mean : meanOf(sumHigh, sumLow, finiteCount));
  }

  variance(ddof: number): number {
    const { finiteCount } = this.#sum;
    if (finiteCount !== this.validCount || finiteCount - ddof <= 0) return Number.NaN;
    return (this.overflowed ? scaledMoments(this.#columns).m2 : this.#sum.m2) / (finiteCount - ddof);
  }

  /** A sum of finite values left the range of f64: sum, mean and M2 are then made from the runs, scaled down. */
  get overflowed(): boolean {
    return !Number.isFinite(this.#sum.sumHigh);
  }

  /** The sorted runs that hold all of it. */
  get runs(): readonly Sorted[] {
    return this.#aggregate ? [...this.#aggregate.runs, ...this.#runs] : this.#runs;
  }

  get #columns(): Column[] {
    return this.runs.map(({ sorted, length }) => sorted.subarray(0, length));
  }

  /** The order statistics of 0-based ranks k and k + 1 (k again at the end), for percentile `p`, over the numbers; -0 is before +0. */
  at(k: number, p: number): [number, number] {
    const pair =
      this.#aggregate && this.#brackets
        ? this.#brackets.select(this.#aggregate, this.#runs, this.validCount, k, p)
        : selectInRuns(this.runs, k);
    // Comparisons take -0 for +0; where nothing is below +0, there is none.
    if ((pair[0] !== 0 && pair[1] !== 0) || this.min > 0 || Object.is(this.min, 0)) return pair;
    const negative = this.runs.reduce((sum, run) => sum + belowPositiveZero(run), 0);
    const signed = (x: number, rank: number) => (x !== 0 ? x : rank < negative ? -0 : 0);
    return [signed(pair[0], k), signed(pair[1], Math.min(k + 1, this.validCount - 1))];
  }

  /** How many numbers are below `limit`. */
  below(limit: number): number {
    return this.runs.reduce((sum, run) => sum + lowerBound(run.sorted, limit, 0, run.length), 0);
  }

  #infinite(finite: number): number {
    return withInfinities(finite, this.#sum.positiveInfinityCount, this.#sum.negativeInfinityCount);
  }
}

/** Numbers before the first +0, -0 among them. */
function belowPositiveZero({ sorted, length }: Sorted): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < 0 || Object.is(sorted[middle], -0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
