import type { Column, Kernel } from "./contract.ts";
import { type Interpolation, interpolate } from "./interpolate.ts";
import { orderOf, type PercentileLaw, type PercentileMethod } from "./percentile.ts";

/** From so many percentiles on, one sort of a copy is quicker than a selection each. */
const SORT_FROM = 4;

/**
 * Percentiles of a column without NaN; NaN for an empty one. `list`: whether the caller asked with an array, which in
 * NumPy turns f32 values to f64. Cost: a selection each, or one sort.
 */
export function percentilesOf(
  kernel: Kernel,
  values: Column,
  percents: readonly number[],
  method: PercentileMethod,
  law: PercentileLaw,
  list: boolean,
): number[] {
  const orders = percents.map((p) => orderOf(method, Math.max(1, values.length), p, law));
  if (values.length === 0) return percents.map(() => Number.NaN);
  const form = formOf(values, law, list);
  if (percents.length < SORT_FROM)
    return orders.map((order) => {
      const [low, next] = kernel.select(values, order.lower);
      return interpolate(order, low, order.upper === order.lower ? low : next, form);
    });
  const sorted = values.slice();
  kernel.sort(sorted);
  return orders.map((order) => interpolate(order, sorted[order.lower]!, sorted[order.upper]!, form));
}

function formOf(values: Column, law: PercentileLaw, list: boolean): Interpolation {
  if (law === "strict") return "strict";
  if (values instanceof Float64Array) return "numpy";
  return list ? "numpy-f32-array" : "numpy-f32";
}
