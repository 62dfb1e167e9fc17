import { PARTS } from "./exact-rank.ts";
import {
  checkPercentile,
  closestTo,
  discrete,
  type PercentileMethod,
  type PercentileRanks,
  percentileRanks,
  plottingOf,
} from "./percentile.ts";

/**
 * "strict": exact ranks (see percentile.ts).
 * "numpy": bit for bit as NumPy 2.4, which rounds p / 100 and every product.
 */
export type PercentileCompat = "strict" | "numpy";

/** The ranks of a percentile, as `percentileRanks`. Source: numpy/lib/_function_base_impl.py (_quantile), NumPy 2.4. */
export function ranksAs(compat: PercentileCompat, method: PercentileMethod, n: number, p: number): PercentileRanks {
  if (compat === "strict") return percentileRanks(method, n, p);
  checkPercentile(p);
  const q = p / 100;
  const ofGaps = (n - 1) * q;
  const ofCount = n * q;
  switch (method) {
    case "linear":
      return numpyBetween(ofGaps, n, (weight) => weight);
    case "lower":
      return discrete(Math.floor(ofGaps));
    case "higher":
      return discrete(Math.ceil(ofGaps));
    case "nearest":
      return discrete(roundHalfEven(ofGaps));
    case "midpoint": {
      const middle = 0.5 * (Math.floor(ofGaps) + Math.ceil(ofGaps));
      return numpyBetween(middle, n, () => (middle % 1 === 0 ? 0 : 0.5));
    }
    case "inverted_cdf":
      return discrete(Math.max(0, Math.ceil(ofCount - 1)));
    case "closest_observation": {
      const index = ofCount - 1 - 0.5;
      return discrete(closestTo(Math.floor(index), Number.isInteger(index)));
    }
    case "averaged_inverted_cdf":
      return numpyBetween(ofCount - 1, n, (weight) => (weight === 0 ? 0.5 : 1));
  }
  const [alpha, beta] = plottingOf(method).map((parts) => parts / PARTS) as [number, number];
  return numpyBetween(ofCount + (alpha + q * (1 - alpha - beta)) - 1, n, (weight) => weight);
}

/** NumPy keeps a weight at the ends, where both ranks are equal. It matters only for infinities (inf - inf). */
function numpyBetween(index: number, n: number, weightOf: (fraction: number) => number): PercentileRanks {
  if (index >= n - 1) return { lower: n - 1, upper: n - 1, weight: weightOf(index + 1), isDiscrete: false };
  if (index < 0) return { lower: 0, upper: 0, weight: weightOf(index), isDiscrete: false };
  const lower = Math.floor(index);
  return { lower, upper: lower + 1, weight: weightOf(index - lower), isDiscrete: false };
}

function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

/**
 * NumPy's `_lerp` bit for bit: "numpy" on f64 values, "numpy-f32" on f32 values with one percentile (f32 at each step),
 * "numpy-f32-array" on f32 values with a list of percentiles (f64 result).
 */
export type NumpyInterpolation = "numpy" | "numpy-f32" | "numpy-f32-array";

/** The percentile from the values at `order.lower` and `order.upper`, as NumPy computes it. */
export function interpolateAsNumpy(
  { weight, isDiscrete }: PercentileRanks,
  low: number,
  high: number,
  form: NumpyInterpolation,
): number {
  if (isDiscrete) return low;
  if (form === "numpy-f32") {
    const f = Math.fround;
    const gap = f(high - low);
    return weight < 0.5 ? f(low + f(gap * f(weight))) : f(high - f(gap * f(1 - weight)));
  }
  const gap = form === "numpy" ? high - low : Math.fround(high - low);
  return weight < 0.5 ? low + gap * weight : high - gap * (1 - weight);
}
