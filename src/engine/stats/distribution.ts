import { argumentError } from "../../base/errors.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import type { FoldedWindow } from "./window-folds.ts";
import { WINDOW_OPTIONS, type WindowOptions, type WindowQuery, windowQuery } from "./window-query.ts";
import type { Degraded, Fold, WindowStats } from "./window-stats.ts";

/** The window of a histogram, and its bounds. */
export interface HistogramOptions extends WindowOptions {
  /** Numbers in ascending order, at least one and at most 100 000. */
  bounds: ArrayLike<number>;
}

/** How many events of a window are between each two bounds. */
export interface Histogram
  extends Pick<WindowStats, "count" | "from" | "to" | "degraded" | "degradedBy" | "missingShare"> {
  bounds: Float64Array;
  /**
   * One more than the bounds. `counts[i]` is the number of values above `bounds[i - 1]` and at most `bounds[i]`, as in Prometheus and
   * OpenTelemetry. The first has all up to the first bound, and the last all above the last one.
   */
  counts: Float64Array;
  sum: number;
}

/** The place of numbers among the values of a window. */
export interface Ranks extends Pick<WindowStats, "count" | "from" | "to" | "degraded" | "degradedBy" | "missingShare"> {
  /** For each number, how many values are below it. */
  below: Float64Array;
  /** For each number, how many values are below it or equal. */
  atMost: Float64Array;
}

export interface LimitsQuery extends WindowQuery {
  limits: Float64Array;
}

const MAX_LIMITS = 100_000;

export function histogramQuery(options: HistogramOptions, retentionMs: number): LimitsQuery {
  const query = windowQuery(options, retentionMs, [...WINDOW_OPTIONS, "bounds"]);
  const limits = limitsOf("bounds", options.bounds);
  for (let i = 1; i < limits.length; i++)
    if (!(limits[i]! > limits[i - 1]!))
      throw argumentError(`bounds[${i}]`, limits[i], `above bounds[${i - 1}], ${limits[i - 1]}`);
  return { ...query, limits };
}

export function ranksQuery(numbers: ArrayLike<number>, options: WindowOptions, retentionMs: number): LimitsQuery {
  return { ...windowQuery(options, retentionMs), limits: limitsOf("numbers", numbers) };
}

function limitsOf(argument: string, given: ArrayLike<number>): Float64Array {
  const { length }: ArrayLike<number> = Object(given);
  if (!(length >= 1 && length <= MAX_LIMITS))
    throw argumentError(argument, given, `an array of 1 to ${MAX_LIMITS} numbers`);
  // By index: an iterator may have more than the length says.
  return Float64Array.from({ length }, (_, i) => {
    const limit = given[i];
    if (typeof limit !== "number" || Number.isNaN(limit)) throw argumentError(`${argument}[${i}]`, limit, "a number");
    return limit;
  });
}

/** The fold of a window, and what an answer says of it. */
export interface Asked {
  fold: Fold;
  window: FoldedWindow;
  nan: NanPolicy;
  degradedBy: Degraded | undefined;
}

export function histogramOf({ limits }: LimitsQuery, asked: Asked): Histogram {
  const { fold } = asked;
  const missing = missingOf(asked);
  const upTo = [...fold.countsOf(limits, "upperBound"), fold.validCount];
  const counts = Float64Array.from(upTo, (count, i) => missing + count - (upTo[i - 1] ?? 0));
  return { bounds: limits, counts, sum: missing + fold.sum, ...windowOf(asked) };
}

export function ranksOf({ limits }: LimitsQuery, asked: Asked): Ranks {
  const missing = missingOf(asked);
  const counts = (bound: "lowerBound" | "upperBound") =>
    Float64Array.from(asked.fold.countsOf(limits, bound), (count) => missing + count);
  return { below: counts("lowerBound"), atMost: counts("upperBound"), ...windowOf(asked) };
}

/** The share of the values that are below the only number; NaN for an empty window. */
export function fractionOf(query: LimitsQuery, asked: Asked): number {
  const [below] = asked.fold.countsOf(query.limits, "lowerBound");
  return (missingOf(asked) + below!) / asked.fold.validCount;
}

/** NaN makes every number NaN, if it is there and not ignored. Otherwise 0, which changes none. */
function missingOf({ fold, nan }: Asked): number {
  return fold.nanCount > 0 && nan !== "ignore" ? Number.NaN : 0;
}

function windowOf({ fold, window, nan, degradedBy }: Asked) {
  return {
    count: nan === "ignore" ? fold.validCount : fold.count,
    from: window.fromMs,
    to: window.toMs,
    degraded: degradedBy !== undefined,
    ...(degradedBy && { degradedBy }),
  };
}
