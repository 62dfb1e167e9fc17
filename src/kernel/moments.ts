import type { Column, Kernel, Summary } from "./contract.ts";
import { meanOf } from "./double-double.ts";
import type { PercentileLaw } from "./percentile/percentile.ts";

export interface Moments {
  count: number;
  mean: number;
  /** The sum of squared distances from the mean, over count - ddof; NaN where that is not positive. */
  variance: number;
  std: number;
  min: number;
  max: number;
}

export const NO_MOMENTS: Omit<Moments, "count"> = {
  mean: Number.NaN,
  variance: Number.NaN,
  std: Number.NaN,
  min: Number.NaN,
  max: Number.NaN,
};

/** The sum of a column without NaN: compensated, in f64; or NumPy's, in the column's own type. */
export function sumOf(kernel: Kernel, values: Column, law: PercentileLaw): number {
  if (law === "numpy") return kernel.pairwiseSum(values);
  return sumFrom(kernel.summary(values));
}

/** The sum of what a summary without NaN is of. */
export function sumFrom({ sumHigh, positiveInfinityCount, negativeInfinityCount }: Summary): number {
  return withInfinities(sumHigh, positiveInfinityCount, negativeInfinityCount);
}

/** Moments of a column without NaN. With an infinity in it, mean is infinite or NaN, variance NaN. */
export function momentsOf(kernel: Kernel, values: Column, ddof: number, law: PercentileLaw): Moments {
  const summary = kernel.summary(values);
  if (law === "strict" || summary.count === 0) return momentsFrom(summary, ddof);
  const { count, min, max } = summary;
  return { count, ...numpyMoments(kernel, values, ddof), min, max };
}

/** Moments of what a summary without NaN is of. */
export function momentsFrom(summary: Summary, ddof: number): Moments {
  const { count, sumHigh, sumLow, m2, min, max, positiveInfinityCount, negativeInfinityCount } = summary;
  if (count === 0) return { count, ...NO_MOMENTS };
  const infinite = positiveInfinityCount + negativeInfinityCount > 0;
  const mean = withInfinities(meanOf(sumHigh, sumLow, count), positiveInfinityCount, negativeInfinityCount);
  const variance = infinite || count <= ddof ? Number.NaN : m2 / (count - ddof);
  return { count, mean, variance, std: Math.sqrt(variance), min, max };
}

/** Every step rounded to the column's type. Source: numpy/_core/_methods.py (_mean, _var, _std). */
function numpyMoments(kernel: Kernel, values: Column, ddof: number): Pick<Moments, "mean" | "variance" | "std"> {
  const round = values instanceof Float32Array ? Math.fround : (x: number) => x;
  const mean = round(kernel.pairwiseSum(values) / values.length);
  const variance = round(kernel.pairwiseSquares(values, mean) / Math.max(values.length - ddof, 0));
  return { mean, variance, std: round(Math.sqrt(variance)) };
}

/** What IEEE makes of a sum, or mean, of finite values and so many infinities. */
export function withInfinities(finite: number, positive: number, negative: number): number {
  if (positive > 0) return negative > 0 ? Number.NaN : Number.POSITIVE_INFINITY;
  return negative > 0 ? Number.NEGATIVE_INFINITY : finite;
}
