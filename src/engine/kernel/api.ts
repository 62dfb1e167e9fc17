import { argumentError, checkKnown } from "../../base/errors.ts";
import { oneOf } from "../../base/options.ts";
import { warnOfFractions } from "../../base/percent.ts";
import { Site } from "../../base/site.ts";
import type { Closed } from "../../base/time.ts";
import { activeKernel } from "./choose.ts";
import { columnOf, timesOf, type Values, type ValueType } from "./column.ts";
import type { Column, KernelName } from "./contract.ts";
import { type Moments, momentsOf, NO_MOMENTS, sumOf } from "./moments.ts";
import { type NanPolicy, policyOf, withoutNan } from "./nan.ts";
import type { PercentileCompat } from "./percentile/numpy.ts";
import type { PercentileMethod } from "./percentile/percentile.ts";
import { percentilesOf } from "./percentile/percentiles.ts";
import { rollingPercentile } from "./rolling/rolling.ts";
import { sourceOf } from "./source.ts";
import { type ColumnStats, statsOfSource } from "./stats.ts";

/** How a column of numbers is read: type, NaN policy, and whose rounding is used. */
export interface ColumnOptions {
  /** Type of the values in raw bytes; default "f32". A typed array has its own type. */
  type?: ValueType | undefined;
  /** Default "reject". */
  nan?: NanPolicy | undefined;
  /** "numpy": the same bits as NumPy 2.4, computed in the column's own precision. Default "strict". */
  compat?: PercentileCompat | undefined;
}

/** Options of `kernel.percentile`: the method, and how the column is read. */
export interface PercentileOptions extends ColumnOptions {
  /** Default "linear". */
  method?: PercentileMethod | undefined;
}

/** Options of `kernel.trim`: the window, and how the times are read. */
export interface TrimOptions {
  type?: ValueType | undefined;
  /** "right" (default): cutoff < t. "both": cutoff <= t. */
  closed?: Closed | undefined;
  /** Set to true if the times never decrease. Both ends are then found by binary search. Default false. */
  sorted?: boolean | undefined;
  /** The last instant inside the window; default: no upper bound. */
  until?: Instant | undefined;
}

/** Options of `kernel.stats`: the window, the percentiles, and how the columns are read. */
export interface WindowStatsOptions<P extends readonly number[] = readonly number[]>
  extends TrimOptions,
    PercentileOptions {
  /** Each from 0 to 100; default 50, 90, 99. */
  percentiles?: P | undefined;
  /** Variance divides by count - ddof; default 0. */
  ddof?: number | undefined;
}

/** Whole ms since 1970; a number's fraction is floored. */
export type Instant = number | bigint;

const COLUMN = ["type", "nan", "compat"];
const PERCENTILE = ["type", "nan", "compat", "method"];
const MOMENTS = ["type", "nan", "compat", "ddof"];
const TRIM = ["type", "closed", "sorted", "until"];
const STATS = ["type", "closed", "sorted", "until", "nan", "compat", "method", "percentiles", "ddof"];

/**
 * Returns one percentile, or one for each `p` of a list, in the order of the list.
 * An empty column gives NaN. A `p` outside 0 to 100 throws ARGUMENT.
 */
function percentile(values: Values, p: number, options?: PercentileOptions): number;
function percentile(values: Values, p: readonly number[], options?: PercentileOptions): number[];
function percentile(values: Values, p: number | readonly number[], options: PercentileOptions = {}): number | number[] {
  checkKnown(options, PERCENTILE);
  const list = Array.isArray(p);
  const percents: readonly number[] = list ? p : [p as number];
  warnOfFractions(percents);
  const compat = compatOf(options);
  const policy = policyOf(options.nan);
  const answersOf = (column: Column) =>
    percentilesOf(activeKernel(), column, percents, options.method ?? "linear", compat, list);
  const column = columnOf("values", values, options.type);
  // The selection itself detects NaN, so a column without NaN is read only once.
  let answers = answersOf(column);
  if (answers === null) {
    const known = withoutNan(activeKernel(), "values", column, policy);
    answers = (known && answersOf(known)) ?? percents.map(() => Number.NaN);
  }
  return list ? answers : answers[0]!;
}

/** Returns the sum; 0 for an empty column. "strict" rounds once, from a compensated f64 sum. */
function sum(values: Values, options: ColumnOptions = {}): number {
  checkKnown(options, COLUMN);
  const compat = compatOf(options);
  const column = read(values, options);
  return column === null ? Number.NaN : sumOf(activeKernel(), column, compat);
}

/**
 * Returns count, mean, variance, std, min and max. The variance divides by count - `ddof` (default 0).
 * For an empty column the count is 0 and the rest are NaN.
 */
function moments(values: Values, options: ColumnOptions & { ddof?: number | undefined } = {}): Moments {
  checkKnown(options, MOMENTS);
  const ddof = ddofOf(options.ddof);
  const compat = compatOf(options);
  const column = read(values, options);
  if (column === null) return { count: columnOf("values", values, options.type).length, ...NO_MOMENTS };
  return momentsOf(activeKernel(), column, ddof, compat);
}

/**
 * Returns copies of the times and values after `cutoff`, in order.
 * Columns of different lengths throw ARGUMENT. Truncated bytes throw CORRUPT.
 */
function trim(
  times: BigInt64Array | Uint8Array,
  values: Values,
  cutoff: Instant,
  options: TrimOptions = {},
): { times: BigInt64Array; values: Column } {
  checkKnown(options, TRIM);
  const { from, to, both, sorted } = windowOf(cutoff, options);
  const instants = timesOf("times", times);
  const column = columnOf("values", values, options.type);
  if (instants.length !== column.length)
    throw argumentError("values.length", column.length, `${instants.length}, the number of times`);
  return activeKernel().trim(instants, column, from, to, both, sorted);
}

/**
 * Returns count, sum, moments, extrema and percentiles of the values after `cutoff`, in one pass.
 * The results and errors are those of `trim`, `sum`, `moments` and `percentile`, without their copies. The input may be
 * columns, or raw bytes at any address. An empty window gives count 0, sum 0 and NaN for the rest.
 * Cost: linear in the input; with `sorted`, linear in the number of events inside the window.
 */
function stats<const P extends readonly number[] = readonly [50, 90, 99]>(
  times: BigInt64Array | Uint8Array,
  values: Values,
  cutoff: Instant,
  options: WindowStatsOptions<P> = {},
): ColumnStats<P[number]> {
  checkKnown(options, STATS);
  const { percentiles = [50, 90, 99], method = "linear", type } = options;
  if (!Array.isArray(percentiles)) throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
  warnOfFractions(percentiles);
  const { from, to, both, sorted } = windowOf(cutoff, options);
  const nan = policyOf(options.nan);
  const request = { type, nan, compat: compatOf(options), percentiles, method, ddof: ddofOf(options.ddof) };
  return statsOfSource(sourceOf(times, values, type, both ? from : from + 1n, to, sorted), request);
}

function windowOf(cutoff: Instant, { closed = "right", sorted = false, until }: TrimOptions) {
  oneOf("closed", closed, "right", "both");
  const from = whole("cutoff", cutoff);
  return { from, to: until === undefined ? 2n ** 63n - 1n : whole("until", until), both: closed === "both", sorted };
}

function whole(argument: string, instant: Instant): bigint {
  if (typeof instant === "bigint") return instant;
  const ms = typeof instant === "number" ? Math.floor(instant) : Number.NaN;
  if (!Number.isSafeInteger(ms)) throw argumentError(argument, instant, "ms since 1970, a safe integer or a bigint");
  return BigInt(ms);
}

function ddofOf(ddof = 0): number {
  if (typeof ddof !== "number" || !(ddof >= 0 && ddof < Number.POSITIVE_INFINITY))
    throw argumentError("ddof", ddof, "a number from 0 on");
  return ddof;
}

function compatOf({ compat = "strict" }: ColumnOptions): PercentileCompat {
  return oneOf("compat", compat, "strict", "numpy");
}

function read(values: Values, { type, nan }: ColumnOptions): Column | null {
  return withoutNan(activeKernel(), "values", columnOf("values", values, type), policyOf(nan));
}

/** Wraps a function so that its errors name it. */
function named<Call extends (...args: never[]) => unknown>(operation: string, call: Call): Call {
  const wrapped = (...args: Parameters<Call>) => {
    try {
      return call(...args);
    } catch (error) {
      throw new Site("kernel").outer(operation, error);
    }
  };
  return wrapped as Call;
}

/** One-shot statistics over columns, computed by the active kernel. No call changes its input. */
export const kernel = {
  percentile: /* @__PURE__ */ named("percentile", percentile),
  sum: /* @__PURE__ */ named("sum", sum),
  moments: /* @__PURE__ */ named("moments", moments),
  trim: /* @__PURE__ */ named("trim", trim),
  stats: /* @__PURE__ */ named("stats", stats),
  rollingPercentile: /* @__PURE__ */ named("rollingPercentile", rollingPercentile),
  /** Name of the active kernel. The first call of any function chooses it. */
  get name(): KernelName {
    return activeKernel().name;
  },
};
