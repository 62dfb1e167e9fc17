import type { Column, Kernel } from "../contract.ts";
import { type Interpolation, interpolate } from "./interpolate.ts";
import { type PercentileCompat, type PercentileMethod, percentileRanks } from "./percentile.ts";

/**
 * Percentiles of a column: NaN if it is empty, null if it contains NaN. `list`: whether the caller passed an array of
 * percentiles; in NumPy, the results of f32 values are then f64. Cost: one copy, and a selection each or one sort.
 */
export function percentilesOf(
  kernel: Kernel,
  values: Column,
  percents: readonly number[],
  method: PercentileMethod,
  compat: PercentileCompat,
  list: boolean,
): number[] | null {
  const orders = percents.map((p) => percentileRanks(method, Math.max(1, values.length), p, compat));
  if (values.length === 0) return percents.map(() => Number.NaN);
  const form = formOf(values, compat, list);
  const selected = kernel.selectMany(
    values,
    orders.map((order) => order.lower),
  );
  if (selected === null) return null;
  return orders.map((order, i) => {
    const [low, next] = selected[i]!;
    return interpolate(order, low, order.upper === order.lower ? low : next, form);
  });
}

function formOf(values: Column, compat: PercentileCompat, list: boolean): Interpolation {
  if (compat === "strict") return "strict";
  if (values instanceof Float64Array) return "numpy";
  return list ? "numpy-f32-array" : "numpy-f32";
}
