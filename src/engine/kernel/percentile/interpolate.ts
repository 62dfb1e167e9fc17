import type { PercentileRanks } from "./percentile.ts";

/**
 * The percentile from the values at `order.lower` and `order.upper` (low <= high). The result does not overflow,
 * and is within [low, high]. If the weight is 0 or 1, or both values are equal, it is one of the values. If one value is infinite,
 * it is that infinity. Between -Infinity and +Infinity it is the nearer one, and 0 halfway.
 */
export function interpolate({ weight, isDiscrete }: PercentileRanks, low: number, high: number): number {
  return isDiscrete ? low : between(low, high, weight);
}

/** `weight` (0 to 1) of the way from low to high. */
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
