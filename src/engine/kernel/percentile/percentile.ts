import { argumentError } from "../../../base/errors.ts";
import { type ExactRank, exactRank, PARTS } from "./exact-rank.ts";

/** NumPy's names. The first nine are Hyndman and Fan's definitions 1-9. */
export const METHODS = [
  "inverted_cdf",
  "averaged_inverted_cdf",
  "closest_observation",
  "interpolated_inverted_cdf",
  "hazen",
  "weibull",
  "linear",
  "median_unbiased",
  "normal_unbiased",
  "lower",
  "higher",
  "midpoint",
  "nearest",
] as const;

/** One of NumPy's 13 percentile methods, by its NumPy name. */
export type PercentileMethod = (typeof METHODS)[number];

/**
 * The two 0-based ranks that make a percentile, and the weight of the upper one. `isDiscrete`: the method does not
 * interpolate, and the percentile is the value at `lower`.
 */
export interface PercentileRanks {
  lower: number;
  upper: number;
  weight: number;
  isDiscrete: boolean;
}

/** alpha and beta of the continuous definitions, in 24ths. */
const PLOTTING: Partial<Record<PercentileMethod, readonly [number, number]>> = {
  interpolated_inverted_cdf: [0, 24],
  hazen: [12, 12],
  weibull: [0, 0],
  median_unbiased: [8, 8],
  normal_unbiased: [9, 9],
};

/**
 * The ranks of percentile `p` (0 to 100) among `n` >= 1 values. `upper` is `lower` or `lower + 1`. A rank is computed exactly from
 * the decimal that JavaScript prints for p (see exact-rank.ts). Throws ARGUMENT for another p or method. Source: Hyndman and
 * Fan 1996, "Sample Quantiles in Statistical Packages".
 */
export function percentileRanks(method: PercentileMethod, n: number, p: number): PercentileRanks {
  checkPercentile(p);
  switch (method) {
    case "linear": {
      const rank = rankOfGaps(n, p);
      return within(rank, n, rank.weight);
    }
    case "lower":
      return discrete(rankOfGaps(n, p).floor);
    case "higher":
      return discrete(ceilingOf(rankOfGaps(n, p)));
    case "nearest": {
      const { floor, half } = rankOfGaps(n, p);
      return discrete(half < 0 || (half === 0 && floor % 2 === 0) ? floor : floor + 1);
    }
    case "midpoint": {
      const rank = rankOfGaps(n, p);
      return within(rank, n, rank.isWhole ? 0 : 0.5);
    }
    case "inverted_cdf":
      return discrete(Math.max(0, ceilingOf(rankOfCount(n, p, -PARTS))));
    case "closest_observation": {
      const { floor, isWhole } = rankOfCount(n, p, -1.5 * PARTS);
      return discrete(closestTo(floor, isWhole));
    }
    case "averaged_inverted_cdf": {
      const rank = rankOfCount(n, p, -PARTS);
      return within(rank, n, rank.isWhole ? 0.5 : 1);
    }
  }
  const [alpha, beta] = plottingOf(method);
  const rank = exactRank(n, p, alpha, beta, -PARTS);
  return within(rank, n, rank.weight);
}

/** The rank (n - 1) q. With alpha 0 and beta 1, `exactRank` is n q without another term. */
function rankOfGaps(n: number, p: number): ExactRank {
  return exactRank(n - 1, p, 0, PARTS, 0);
}

/** The rank n q, shifted by 24ths. */
function rankOfCount(n: number, p: number, shift24: number): ExactRank {
  return exactRank(n, p, 0, PARTS, shift24);
}

export function checkPercentile(p: number): void {
  if (typeof p !== "number" || !(p >= 0 && p <= 100)) throw argumentError("percentile", p, "from 0 to 100 (percent)");
}

/** Alpha and beta of a continuous definition. Throws ARGUMENT for a method that is none. */
export function plottingOf(method: PercentileMethod): readonly [number, number] {
  const plotting = METHODS.includes(method) ? PLOTTING[method] : undefined;
  if (plotting === undefined) throw argumentError("method", method, `one of ${METHODS.join(", ")}`);
  return plotting;
}

export function discrete(rank: number): PercentileRanks {
  return { lower: rank, upper: rank, weight: 0, isDiscrete: true };
}

/** The ranks on either side of a fraction; at or beyond an end, only the end. */
function within({ floor }: ExactRank, n: number, weight: number): PercentileRanks {
  if (floor >= n - 1) return { lower: n - 1, upper: n - 1, weight: 0, isDiscrete: false };
  if (floor < 0) return { lower: 0, upper: 0, weight: 0, isDiscrete: false };
  return { lower: floor, upper: floor + 1, weight, isDiscrete: false };
}

function ceilingOf({ floor, isWhole }: ExactRank): number {
  return isWhole ? floor : floor + 1;
}

/** That definition counts ranks from 1, so its "round to even" is to odd here. The floor may be -1. */
export function closestTo(floor: number, isWhole: boolean): number {
  return Math.max(0, isWhole && Math.abs(floor % 2) === 1 ? floor : floor + 1);
}

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
