import { OrielError } from "../../base/errors.ts";
import type { Column } from "../kernel/contract.ts";
import { meanOf } from "../kernel/double-double.ts";
import { withInfinities } from "../kernel/moments.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import { interpolate, percentileRanks } from "../kernel/percentile/percentile.ts";
import type { RankBrackets } from "./runs/brackets.ts";
import { Accumulator, type CachedAggregate, type Run, type Sorted, scaledMoments } from "./runs/run.ts";
import { selectInRuns } from "./runs/select-runs.ts";
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
  /** Of a shared or older answer (`maxAge`): it has all events that were acknowledged before this time of the server, ms since 1970. */
  asOfMs?: number;
  /** True if the answer may lack events or the server's clock went back. `degradedBy` is the reason. */
  degraded: boolean;
  degradedBy?: Degraded;
  /** With `degradedBy: "shards"`: the share of the shards whose events are missing. */
  missingShare?: number;
}

/**
 * Why an answer may be incomplete.
 * "retention": the window begins before the oldest time in the series.
 * "lost": older events are missing, or Redis has lost events that this process saw (a failover).
 * "local": the store is or was unreachable (`onStoreError: "local"`). The answer covers this process only,
 * or lacks events that this process still buffers or that may never reach the store.
 * "clock": the server's clock is behind the last timestamp, so the time of the series stands still.
 * "shards": shards of a series could not be reached. `missingShare` says how many.
 */
export type Degraded = "retention" | "lost" | "local" | "clock" | "shards";

/** The aggregates of one window, computed in this process or on the server. */
export interface WindowAggregates {
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
  /** Called before `valuesAt` with all ranks, by a fold that finds them together. */
  seek?(ranks: readonly number[]): void;
  /** The values at the 0-based ranks k and k + 1 (k again at the end), NaN excluded, for percentile `p`. */
  valuesAt(k: number, p: number): [number, number];
}

export function statsOf(
  fold: WindowAggregates,
  query: StatsQuery,
  nan: NanPolicy,
  fromMs: number,
  toMs: number,
  degradedBy: Degraded | undefined,
): WindowStats {
  const hasNan = fold.nanCount > 0 && nan !== "ignore";
  const count = nan === "ignore" ? fold.validCount : fold.count;
  const isUndefined = hasNan || count === 0;
  const variance = isUndefined ? Number.NaN : fold.variance(query.ddof);
  const stats: WindowStats = {
    count,
    sum: hasNan ? Number.NaN : fold.sum,
    mean: isUndefined ? Number.NaN : fold.mean,
    min: isUndefined ? Number.NaN : fold.min,
    max: isUndefined ? Number.NaN : fold.max,
    variance,
    std: Math.sqrt(variance),
    percentiles: {},
    from: fromMs,
    to: toMs,
    degraded: degradedBy !== undefined,
  };
  if (isUndefined) for (const p of query.percentiles) stats.percentiles[p] = Number.NaN;
  else addPercentiles(stats, fold, query);
  if (degradedBy) stats.degradedBy = degradedBy;
  return stats;
}

function addPercentiles(stats: WindowStats, fold: WindowAggregates, { percentiles, method }: StatsQuery): void {
  const orders = percentiles.map((p) => percentileRanks(method, fold.validCount, p));
  fold.seek?.(orders.map(({ lower }) => lower));
  for (let i = 0; i < orders.length; i++) {
    const p = percentiles[i]!;
    const order = orders[i]!;
    const [low, next] = fold.valuesAt(order.lower, p);
    const value = interpolate(order, low, order.upper === order.lower ? low : next);
    // Two comparisons: every answer is checked, not only in tests.
    if (!(value >= stats.min && value <= stats.max)) throw contradiction(stats, p, value);
    stats.percentiles[p] = value;
  }
}

function contradiction({ min, max }: WindowStats, p: number, value: number): OrielError {
  return new OrielError("KERNEL", `percentile ${p} is ${value}, outside the window's min ${min} and max ${max}`);
}

/** The aggregates of one window: those of a cached aggregate, if there is one, and those of the other runs. */
export class Fold {
  readonly #sum = new Accumulator();
  readonly #aggregate: CachedAggregate | undefined;
  readonly #brackets: RankBrackets | undefined;
  readonly #runs: Run[] = [];

  /** `brackets` are those of the cached window to which `aggregate` belongs. */
  constructor(aggregate?: CachedAggregate, brackets?: RankBrackets) {
    this.#aggregate = aggregate;
    this.#brackets = brackets;
    if (aggregate) this.#sum.add(aggregate.total);
  }

  /** Keeps `run`, so a fold stays right for as long as it is kept: a run never changes once it was made. */
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

  /** Number of values other than NaN, infinities included. */
  get validCount(): number {
    return this.#sum.count - this.#sum.nanCount;
  }

  /** Sum of the values other than NaN; infinities add as in IEEE 754. */
  get sum(): number {
    return this.#addInfinities(
      this.isOverflowed ? scaledMoments(this.#columns).sum : this.#sum.sumHigh + this.#sum.sumLow,
    );
  }

  get mean(): number {
    if (this.validCount === 0) return Number.NaN;
    const { sumHigh, sumLow, finiteCount } = this.#sum;
    return this.#addInfinities(
      this.isOverflowed ? scaledMoments(this.#columns).mean : meanOf(sumHigh, sumLow, finiteCount),
    );
  }

  variance(ddof: number): number {
    const { finiteCount } = this.#sum;
    if (finiteCount !== this.validCount || finiteCount - ddof <= 0) return Number.NaN;
    return (this.isOverflowed ? scaledMoments(this.#columns).m2 : this.#sum.m2) / (finiteCount - ddof);
  }

  /** True if the sum of the finite values overflowed f64. Then the moments are computed from the runs, scaled down. */
  get isOverflowed(): boolean {
    return !Number.isFinite(this.#sum.sumHigh);
  }

  /** The sorted runs of all events. */
  get runs(): readonly Sorted[] {
    return this.#aggregate ? [...this.#aggregate.runs, ...this.#runs] : this.#runs;
  }

  get #columns(): Column[] {
    return this.runs.map((run) => run.part(0, run.length));
  }

  /** The values at the 0-based ranks k and k + 1 (k again at the end), NaN excluded, for percentile `p`. -0 is below +0. */
  valuesAt(k: number, p: number): [number, number] {
    const pair =
      this.#aggregate && this.#brackets
        ? this.#brackets.select(this.#aggregate, this.#runs, this.validCount, k, p)
        : selectInRuns(this.runs, k);
    // Comparisons treat -0 and +0 as equal. If the minimum is +0 or above, there is no -0.
    if ((pair[0] !== 0 && pair[1] !== 0) || this.min > 0 || Object.is(this.min, 0)) return pair;
    const negative = this.runs.reduce((sum, run) => sum + belowPositiveZero(run), 0);
    const signed = (x: number, rank: number) => (x !== 0 ? x : rank < negative ? -0 : 0);
    return [signed(pair[0], k), signed(pair[1], Math.min(k + 1, this.validCount - 1))];
  }

  /** For each limit, how many numbers are below it or, by "upperBound", at most as large. */
  countsOf(limits: ArrayLike<number>, bound: "lowerBound" | "upperBound"): Float64Array {
    const { runs } = this;
    return Float64Array.from(limits, (limit) => runs.reduce((sum, run) => sum + run[bound](limit, 0, run.length), 0));
  }

  #addInfinities(finite: number): number {
    return withInfinities(finite, this.#sum.positiveInfinityCount, this.#sum.negativeInfinityCount);
  }
}

/** Count of the numbers before the first +0, which includes -0. */
function belowPositiveZero(run: Sorted): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (run.at(middle) < 0 || Object.is(run.at(middle), -0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
