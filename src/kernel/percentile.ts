import { argumentError } from "../errors.ts";

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

/** "numpy": bit for bit as NumPy 2.4, rounding of p / 100 included. "strict": p / 100 is not rounded before it is used. */
export type PercentileLaw = "strict" | "numpy";

/** Which order statistics (0-based ranks) make a percentile, and how much of the upper one; `taken`: the lower, as it is. */
export interface Order {
  lower: number;
  upper: number;
  weight: number;
  taken: boolean;
}

/** alpha and beta of the continuous definitions. */
const PLOTTING: Partial<Record<PercentileMethod, readonly [number, number]>> = {
  interpolated_inverted_cdf: [0, 1],
  hazen: [0.5, 0.5],
  weibull: [0, 0],
  median_unbiased: [1 / 3, 1 / 3],
  normal_unbiased: [3 / 8, 3 / 8],
};

/**
 * The order statistics of percentile `p` (0 to 100) among `n` >= 1 values; upper is lower or lower + 1.
 * ARGUMENT for another p or method. Source: numpy/lib/_function_base_impl.py (_quantile), NumPy 2.4.
 */
export function orderOf(method: PercentileMethod, n: number, p: number, law: PercentileLaw = "strict"): Order {
  if (typeof p !== "number" || !(p >= 0 && p <= 100)) throw argumentError("percentile", p, "from 0 to 100 (percent)");
  const q = p / 100;
  const ofGaps = law === "numpy" ? (n - 1) * q : ((n - 1) * p) / 100;
  const ofCount = law === "numpy" ? n * q : (n * p) / 100;
  switch (method) {
    case "linear":
      return between(ofGaps, n, law, (weight) => weight);
    case "lower":
      return taken(Math.floor(ofGaps));
    case "higher":
      return taken(Math.ceil(ofGaps));
    case "nearest":
      return taken(roundHalfEven(ofGaps));
    case "midpoint": {
      const middle = 0.5 * (Math.floor(ofGaps) + Math.ceil(ofGaps));
      return between(middle, n, law, () => (middle % 1 === 0 ? 0 : 0.5));
    }
    case "inverted_cdf":
      return taken(Math.max(0, Math.ceil(ofCount - 1)));
    case "closest_observation": {
      const index = ofCount - 1 - 0.5;
      const floor = Math.floor(index);
      // Ranks count from 1 there, so "to even" is to odd here; Math.abs, for floor may be -1.
      return taken(Math.max(0, index === floor && Math.abs(floor % 2) === 1 ? floor : floor + 1));
    }
    case "averaged_inverted_cdf":
      return between(ofCount - 1, n, law, (weight) => (weight === 0 ? 0.5 : 1));
  }
  const plotting = Object.hasOwn(PLOTTING, method) ? PLOTTING[method] : undefined;
  if (plotting === undefined) throw argumentError("method", method, `one of ${METHODS.join(", ")}`);
  const [alpha, beta] = plotting;
  return between(ofCount + (alpha + q * (1 - alpha - beta)) - 1, n, law, (weight) => weight);
}

function taken(rank: number): Order {
  return { lower: rank, upper: rank, weight: 0, taken: true };
}

/** NumPy keeps a weight beyond the ends, where both ranks are the same; it tells only between infinities (inf - inf). */
function between(index: number, n: number, law: PercentileLaw, weightOf: (fraction: number) => number): Order {
  const numpy = law === "numpy";
  if (index >= n - 1) return { lower: n - 1, upper: n - 1, weight: numpy ? weightOf(index + 1) : 0, taken: false };
  if (index < 0) return { lower: 0, upper: 0, weight: numpy ? weightOf(index) : 0, taken: false };
  const lower = Math.floor(index);
  return { lower, upper: lower + 1, weight: weightOf(index - lower), taken: false };
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}
