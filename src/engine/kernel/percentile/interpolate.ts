import type { PercentileRanks } from "./percentile.ts";

/**
 * "strict": see `interpolate`. The others are NumPy's `_lerp` bit for bit: "numpy" on f64 values, "numpy-f32" on f32
 * values with one percentile (f32 at each step), "numpy-f32-array" on f32 values with a list of percentiles (f64 result).
 */
export type Interpolation = "strict" | "numpy" | "numpy-f32" | "numpy-f32-array";

/**
 * The percentile from the values at `order.lower` and `order.upper` (low <= high). The strict form does not overflow,
 * and the result is within [low, high]. If the weight is 0 or 1, or both values are equal, it is one of the values. If
 * one value is infinite, it is that infinity. Between -Infinity and +Infinity it is the nearer one, and 0 halfway.
 */
export function interpolate(order: PercentileRanks, low: number, high: number, form: Interpolation = "strict"): number {
  const { weight, isDiscrete } = order;
  if (isDiscrete) return low;
  if (form === "strict") return between(low, high, weight);
  if (form === "numpy") {
    const gap = high - low;
    return weight < 0.5 ? low + gap * weight : high - gap * (1 - weight);
  }
  const gap = Math.fround(high - low);
  if (form === "numpy-f32-array") return weight < 0.5 ? low + gap * weight : high - gap * (1 - weight);
  const f = Math.fround;
  return weight < 0.5 ? f(low + f(gap * f(weight))) : f(high - f(gap * f(1 - weight)));
}

/** The strict law: `weight` (0 to 1) of the way from low to high. */
export function between(low: number, high: number, weight: number): number {
  if (weight === 0 || low === high) return low;
  if (weight === 1) return high;
  const lowest = low === Number.NEGATIVE_INFINITY;
  if (lowest && high === Number.POSITIVE_INFINITY) return weight < 0.5 ? low : weight > 0.5 ? high : 0;
  if (lowest || high === Number.POSITIVE_INFINITY) return lowest ? low : high;
  const gap = high - low;
  if (!Number.isFinite(gap)) return 2 * between(low / 2, high / 2, weight);
  const value = weight < 0.5 ? low + gap * weight : high - gap * (1 - weight);
  return Math.min(high, Math.max(low, value));
}
