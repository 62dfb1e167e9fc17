import type { Column, Kernel } from "../contract.ts";
import { interpolateAsNumpy, type NumpyInterpolation, type PercentileCompat, ranksAs } from "./numpy.ts";
import { interpolate, type PercentileMethod } from "./percentile.ts";

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
  const orders = percents.map((p) => ranksAs(compat, method, Math.max(1, values.length), p));
  if (values.length === 0) return percents.map(() => Number.NaN);
  const selected = kernel.selectMany(
    values,
    orders.map((order) => order.lower),
  );
  if (selected === null) return null;
  return orders.map((order, i) => {
    const [low, next] = selected[i]!;
    const high = order.upper === order.lower ? low : next;
    return compat === "strict"
      ? interpolate(order, low, high)
      : interpolateAsNumpy(order, low, high, formOf(values, list));
  });
}

function formOf(values: Column, list: boolean): NumpyInterpolation {
  if (values instanceof Float64Array) return "numpy";
  return list ? "numpy-f32-array" : "numpy-f32";
}
