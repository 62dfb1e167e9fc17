import { argumentError } from "../../errors.ts";
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

export type PercentileMethod = (typeof METHODS)[number];

/**
 * "strict": a rank is computed exactly from the decimal that JavaScript prints for p (see exact-rank.ts).
 * "numpy": bit for bit as NumPy 2.4, which rounds p / 100 and every product.
 */
export type PercentileLaw = "strict" | "numpy";

/** Which order statistics (0-based ranks) make a percentile, and how much of the upper one; `taken`: the lower, as it is. */
export interface Order {
  lower: number;
  upper: number;
  weight: number;
  taken: boolean;
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
 * The order statistics of percentile `p` (0 to 100) among `n` >= 1 values; upper is lower or lower + 1.
 * ARGUMENT for another p or method. Source: numpy/lib/_function_base_impl.py (_quantile), NumPy 2.4.
 */
export function orderOf(method: PercentileMethod, n: number, p: number, law: PercentileLaw = "strict"): Order {
  if (typeof p !== "number" || !(p >= 0 && p <= 100)) throw argumentError("percentile", p, "from 0 to 100 (percent)");
  if (typeof method !== "string") throw argumentError("method", method, `one of ${METHODS.join(", ")}`);
  return law === "numpy" ? numpyOrder(method, n, p) : strictOrder(method, n, p);
}

function strictOrder(method: PercentileMethod, n: number, p: number): Order {
  switch (method) {
    case "linear": {
      const rank = rankOfGaps(n, p);
      return within(rank, n, rank.weight);
    }
    case "lower":
      return taken(rankOfGaps(n, p).floor);
    case "higher":
      return taken(ceilingOf(rankOfGaps(n, p)));
    case "nearest": {
      const { floor, half } = rankOfGaps(n, p);
      return taken(half < 0 || (half === 0 && floor % 2 === 0) ? floor : floor + 1);
    }
    case "midpoint": {
      const rank = rankOfGaps(n, p);
      return within(rank, n, rank.isWhole ? 0 : 0.5);
    }
    case "inverted_cdf":
      return taken(Math.max(0, ceilingOf(rankOfCount(n, p, -PARTS))));
    case "closest_observation": {
      const { floor, isWhole } = rankOfCount(n, p, -1.5 * PARTS);
      return taken(closestTo(floor, isWhole));
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

/** (n - 1) q: a beta of one leaves no share of q beside n q. */
function rankOfGaps(n: number, p: number): ExactRank {
  return exactRank(n - 1, p, 0, PARTS, 0);
}

/** n q, shifted by 24ths. */
function rankOfCount(n: number, p: number, shift24: number): ExactRank {
  return exactRank(n, p, 0, PARTS, shift24);
}

function numpyOrder(method: PercentileMethod, n: number, p: number): Order {
  const q = p / 100;
  const ofGaps = (n - 1) * q;
  const ofCount = n * q;
  switch (method) {
    case "linear":
      return numpyBetween(ofGaps, n, (weight) => weight);
    case "lower":
      return taken(Math.floor(ofGaps));
    case "higher":
      return taken(Math.ceil(ofGaps));
    case "nearest":
      return taken(roundHalfEven(ofGaps));
    case "midpoint": {
      const middle = 0.5 * (Math.floor(ofGaps) + Math.ceil(ofGaps));
      return numpyBetween(middle, n, () => (middle % 1 === 0 ? 0 : 0.5));
    }
    case "inverted_cdf":
      return taken(Math.max(0, Math.ceil(ofCount - 1)));
    case "closest_observation": {
      const index = ofCount - 1 - 0.5;
      return taken(closestTo(Math.floor(index), Number.isInteger(index)));
    }
    case "averaged_inverted_cdf":
      return numpyBetween(ofCount - 1, n, (weight) => (weight === 0 ? 0.5 : 1));
  }
  const [alpha, beta] = plottingOf(method).map((parts) => parts / PARTS) as [number, number];
  return numpyBetween(ofCount + (alpha + q * (1 - alpha - beta)) - 1, n, (weight) => weight);
}

function plottingOf(method: PercentileMethod): readonly [number, number] {
  const plotting = Object.hasOwn(PLOTTING, method) ? PLOTTING[method] : undefined;
  if (plotting === undefined) throw argumentError("method", method, `one of ${METHODS.join(", ")}`);
  return plotting;
}

function taken(rank: number): Order {
  return { lower: rank, upper: rank, weight: 0, taken: true };
}

/** Between two ranks; at or beyond an end, the end itself. */
function within({ floor }: ExactRank, n: number, weight: number): Order {
  if (floor >= n - 1) return { lower: n - 1, upper: n - 1, weight: 0, taken: false };
  if (floor < 0) return { lower: 0, upper: 0, weight: 0, taken: false };
  return { lower: floor, upper: floor + 1, weight, taken: false };
}

/** NumPy keeps a weight beyond the ends, where both ranks are the same; it matters only between infinities (inf - inf). */
function numpyBetween(index: number, n: number, weightOf: (fraction: number) => number): Order {
  if (index >= n - 1) return { lower: n - 1, upper: n - 1, weight: weightOf(index + 1), taken: false };
  if (index < 0) return { lower: 0, upper: 0, weight: weightOf(index), taken: false };
  const lower = Math.floor(index);
  return { lower, upper: lower + 1, weight: weightOf(index - lower), taken: false };
}

function ceilingOf({ floor, isWhole }: ExactRank): number {
  return isWhole ? floor : floor + 1;
}

/** Ranks count from 1 in that definition, so "to even" is to odd here; Math.abs, because the floor may be -1. */
function closestTo(floor: number, isWhole: boolean): number {
  return Math.max(0, isWhole && Math.abs(floor % 2) === 1 ? floor : floor + 1);
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}
