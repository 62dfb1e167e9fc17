import { argumentError } from "../../base/errors.ts";
import { activeKernel } from "./choose.ts";
import type { ValueType } from "./column.ts";
import type { Kernel, Source, Summary } from "./contract.ts";
import { type Moments, momentsFrom, momentsOf, NO_MOMENTS, sumFrom, sumOf } from "./moments.ts";
import type { NanPolicy } from "./nan.ts";
import { type PercentileCompat, ranksAs } from "./percentile/numpy.ts";
import { interpolate, type PercentileMethod } from "./percentile/percentile.ts";
import { percentilesOf } from "./percentile/percentiles.ts";
import { readersOf } from "./readers.ts";

/** Statistics of the values inside a window. An empty window has count 0, sum 0 and NaN for the rest. */
export interface ColumnStats<P extends number = number> extends Moments {
  /** Number of NaN inside the window, under every NaN policy. */
  nanCount: number;
  sum: number;
  /** Keyed by the requested percentile. */
  percentiles: Record<P, number>;
}

export interface StatsRequest {
  type: ValueType | undefined;
  nan: NanPolicy;
  compat: PercentileCompat;
  percentiles: readonly number[];
  method: PercentileMethod;
  ddof: number;
}

/**
 * Computes the statistics in one pass over the source ("strict", from 16 384 pairs). It copies the values inside
 * instead if there are fewer pairs, with compat "numpy" (its sums need one contiguous column), or for the
 * percentiles that the pass could not determine.
 */
export function statsOfSource(source: Source, request: StatsRequest): ColumnStats {
  const kernel = activeKernel();
  const { percentiles, method, nan, compat, ddof } = request;
  const orders = (numbers: number) => percentiles.map((p) => ranksAs(compat, method, Math.max(1, numbers), p));
  orders(1);
  const ranksOf = (numbers: number) => orders(numbers).map((order) => order.lower);
  const shares = percentiles.map((p) => p / 100);
  const streamed = compat === "strict" ? kernel.streamed(source, shares, ranksOf) : null;
  if (streamed === null) return statsOfCopy(kernel, source, request);
  const { summary, pairs } = streamed;
  const { nanCount } = summary;
  if (nanCount > 0 && nan === "reject") throw nanError(source);
  if (nanCount > 0 && nan === "propagate") return allNan(summary.count, nanCount, percentiles);
  const known: Summary = { ...summary, count: summary.count - nanCount };
  const answers: Record<number, number> = {};
  if (pairs.includes(null)) {
    const missed = percentiles.filter((_, i) => pairs[i] === null);
    Object.assign(answers, statsOfCopy(kernel, source, { ...request, percentiles: missed }).percentiles);
  }
  for (const [i, order] of orders(known.count).entries()) {
    const pair = pairs[i];
    if (pair) answers[percentiles[i]!] = interpolate(order, pair[0], order.upper === order.lower ? pair[0] : pair[1]);
  }
  return { ...momentsFrom(known, ddof), sum: sumFrom(known), percentiles: answers, nanCount };
}

function statsOfCopy(kernel: Kernel, source: Source, request: StatsRequest): ColumnStats {
  const { percentiles, method, nan, compat, ddof } = request;
  const all = kernel.gather(source);
  const values = all.filter((x) => !Number.isNaN(x));
  const nanCount = all.length - values.length;
  if (nanCount > 0 && nan === "reject") throw nanError(source);
  if (nanCount > 0 && nan === "propagate") return allNan(all.length, nanCount, percentiles);
  const chosen = percentilesOf(kernel, values, percentiles, method, compat, true) ?? [];
  const answers = Object.fromEntries(percentiles.map((p, i) => [p, chosen[i]!]));
  return {
    ...momentsOf(kernel, values, ddof, compat),
    sum: sumOf(kernel, values, compat),
    percentiles: answers,
    nanCount,
  };
}

function allNan(count: number, nanCount: number, percentiles: readonly number[]): ColumnStats {
  const answers = Object.fromEntries(percentiles.map((p) => [p, Number.NaN]));
  return { count, sum: Number.NaN, ...NO_MOMENTS, percentiles: answers, nanCount };
}

/** Names the first NaN inside. */
function nanError(source: Source): Error {
  const { valueAt, isInside } = readersOf(source);
  let index = source.begin;
  while (!(isInside(index) && Number.isNaN(valueAt(index)))) index++;
  return argumentError(`values[${index}]`, Number.NaN, 'a number (or choose { nan: "ignore" } or "propagate")');
}
