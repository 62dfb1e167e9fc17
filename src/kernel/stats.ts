import { argumentError } from "../errors.ts";
import { activeKernel } from "./choose.ts";
import type { ValueType } from "./column.ts";
import type { Kernel, Source, Summary } from "./contract.ts";
import { type Moments, momentsFrom, momentsOf, NO_MOMENTS, sumFrom, sumOf } from "./moments.ts";
import type { NanPolicy } from "./nan.ts";
import { interpolate } from "./percentile/interpolate.ts";
import { orderOf, type PercentileLaw, type PercentileMethod } from "./percentile/percentile.ts";
import { percentilesOf } from "./percentile/percentiles.ts";
import { readersOf } from "./readers.ts";

/** Statistics of the values inside; of none: count 0, sum 0, the rest NaN. */
export interface ColumnStats<P extends number = number> extends Moments {
  /** NaN inside the window, whatever became of them. */
  nanCount: number;
  sum: number;
  /** By the percentile asked for. */
  percentiles: Record<P, number> & Record<number, number>;
}

export interface StatsRequest {
  type: ValueType | undefined;
  nan: NanPolicy;
  law: PercentileLaw;
  percentiles: readonly number[];
  method: PercentileMethod;
  ddof: number;
}

/**
 * One walk over the source (strict, from 16 384 pairs on); a copy of what is inside for NumPy's law, whose sums need it
 * in one piece, for fewer, and for what the walk could not tell.
 */
export function statsOfSource(source: Source, request: StatsRequest): ColumnStats {
  const kernel = activeKernel();
  const { percentiles, method, nan, law, ddof } = request;
  const orders = (numbers: number) => percentiles.map((p) => orderOf(method, Math.max(1, numbers), p, law));
  orders(1);
  const ranksOf = (numbers: number) => orders(numbers).map((order) => order.lower);
  const shares = percentiles.map((p) => p / 100);
  const walked = law === "strict" ? kernel.streamed(source, shares, ranksOf) : null;
  if (walked === null) return statsOfCopy(kernel, source, request);
  const { summary, pairs } = walked;
  const { nanCount } = summary;
  if (nanCount > 0 && nan === "reject") throw nanError(source);
  if (nanCount > 0 && nan === "propagate") return spoilt(summary.count, nanCount, percentiles);
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
  const { percentiles, method, nan, law, ddof } = request;
  const all = kernel.gather(source);
  const values = all.filter((x) => !Number.isNaN(x));
  const nanCount = all.length - values.length;
  if (nanCount > 0 && nan === "reject") throw nanError(source);
  if (nanCount > 0 && nan === "propagate") return spoilt(all.length, nanCount, percentiles);
  const chosen = percentilesOf(kernel, values, percentiles, method, law, true) ?? [];
  const answers = Object.fromEntries(percentiles.map((p, i) => [p, chosen[i]!]));
  return { ...momentsOf(kernel, values, ddof, law), sum: sumOf(kernel, values, law), percentiles: answers, nanCount };
}

function spoilt(count: number, nanCount: number, percentiles: readonly number[]): ColumnStats {
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
