import type { Column, Kernel, Summary } from "./contract.ts";
import { meanOf } from "./double-double.ts";
import type { PercentileCompat } from "./percentile/numpy.ts";

/** Count, mean and spread of a column. An empty column has count 0 and NaN elsewhere. */
export interface Moments {
  count: number;
  mean: number;
  /** The sum of squared distances from the mean, divided by count - ddof. NaN if that is not positive. */
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

/** The sum of a column without NaN: a compensated f64 sum, or NumPy's sum in the column's own type. */
export function sumOf(kernel: Kernel, values: Column, compat: PercentileCompat): number {
  if (compat === "numpy") return kernel.pairwiseSum(values);
  return sumFrom(kernel.summary(values));
}

/** The sum of the values of a summary without NaN. */
export function sumFrom({ sumHigh, positiveInfinityCount, negativeInfinityCount }: Summary): number {
  return withInfinities(sumHigh, positiveInfinityCount, negativeInfinityCount);
}

/** Moments of a column without NaN. With an infinity, the mean is infinite or NaN, and the variance NaN. */
export function momentsOf(kernel: Kernel, values: Column, ddof: number, compat: PercentileCompat): Moments {
  const summary = kernel.summary(values);
  if (compat === "strict" || summary.count === 0) return momentsFrom(summary, ddof);
  const { count, min, max } = summary;
  return { count, ...numpyMoments(kernel, values, ddof), min, max };
}

/** Moments of the values of a summary without NaN. */
export function momentsFrom(summary: Summary, ddof: number): Moments {
  const { count, sumHigh, sumLow, m2, min, max, positiveInfinityCount, negativeInfinityCount } = summary;
  if (count === 0) return { count, ...NO_MOMENTS };
  const infinite = positiveInfinityCount + negativeInfinityCount > 0;
  const mean = withInfinities(meanOf(sumHigh, sumLow, count), positiveInfinityCount, negativeInfinityCount);
  const variance = infinite || count <= ddof ? Number.NaN : m2 / (count - ddof);
  return { count, mean, variance, std: Math.sqrt(variance), min, max };
}

/** Each step is rounded to the column's type. Source: numpy/_core/_methods.py (_mean, _var, _std). */
function numpyMoments(kernel: Kernel, values: Column, ddof: number): Pick<Moments, "mean" | "variance" | "std"> {
  const round = values instanceof Float32Array ? Math.fround : (x: number) => x;
  const mean = round(kernel.pairwiseSum(values) / values.length);
  const variance = round(kernel.pairwiseSquares(values, mean) / Math.max(values.length - ddof, 0));
  return { mean, variance, std: round(Math.sqrt(variance)) };
}

/** The sum or mean after adding these counts of infinities to a finite one, by IEEE 754. */
export function withInfinities(finite: number, positive: number, negative: number): number {
  if (positive > 0) return negative > 0 ? Number.NaN : Number.POSITIVE_INFINITY;
  return negative > 0 ? Number.NEGATIVE_INFINITY : finite;
}
