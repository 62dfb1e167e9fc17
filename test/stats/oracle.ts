import { expect } from "vitest";
import type { Closed } from "../../src/base/time.ts";
import type { NanPolicy } from "../../src/engine/kernel/nan.ts";
import type { PercentileMethod } from "../../src/engine/kernel/percentile/percentile.ts";
import type { WindowStats } from "../../src/engine/stats/window-stats.ts";
import { exactMoments } from "../kernel/oracle.ts";

export interface Event {
  t: number;
  value: number;
}

export interface Asked {
  percentiles?: readonly number[];
  method?: PercentileMethod;
  ddof?: number;
  nan?: NanPolicy;
}

type Expected = Omit<WindowStats, "from" | "to" | "degraded" | "degradedBy">;

/** The window law, read literally; the values in the order given. */
export function inside(events: readonly Event[], fromMs: number, toMs: number, closed: Closed = "right"): number[] {
  return events
    .filter(({ t }) => t <= toMs && (closed === "both" ? fromMs <= t : fromMs < t))
    .map(({ value }) => value);
}

/** The definitions of Hyndman and Fan, and NumPy's four others, with 1-based order statistics. */
export function percentileByHand(sorted: readonly number[], p: number, method: PercentileMethod): number {
  const n = sorted.length;
  const x = (rank: number) => sorted[Math.min(n, Math.max(1, rank)) - 1]!;
  const between = (h: number, weight = h - Math.floor(h)) => {
    const low = x(Math.floor(h));
    const high = x(Math.floor(h) + 1);
    if (weight === 0 || low === high) return low;
    if (weight === 1) return high;
    // The strict law: the infinite end; between two of them the nearer, and 0 half-way.
    if (!Number.isFinite(low) && !Number.isFinite(high)) return weight === 0.5 ? 0 : weight < 0.5 ? low : high;
    if (!Number.isFinite(low) || !Number.isFinite(high)) return low + high;
    const gap = high - low;
    return Number.isFinite(gap) ? low + weight * gap : 2 * (low / 2 + weight * (high / 2 - low / 2));
  };
  const np = (n * p) / 100;
  const gaps = ((n - 1) * p) / 100 + 1;
  switch (method) {
    case "inverted_cdf":
      return x(Math.ceil(np));
    case "averaged_inverted_cdf":
      return Number.isInteger(np) ? between(np, 0.5) : x(Math.ceil(np));
    case "closest_observation": {
      const h = np - 0.5;
      return Number.isInteger(h) && h % 2 === 0 ? x(h) : x(Math.floor(h) + 1);
    }
    case "interpolated_inverted_cdf":
      return between(np);
    case "hazen":
      return between(np + 0.5);
    case "weibull":
      return between(np + p / 100);
    case "linear":
      return between(gaps);
    case "median_unbiased":
      return between(np + (1 / 3) * (1 + p / 100));
    case "normal_unbiased":
      return between(np + 3 / 8 + p / 400);
    case "lower":
      return x(Math.floor(gaps));
    case "higher":
      return x(Math.ceil(gaps));
    case "midpoint":
      return Number.isInteger(gaps) ? x(gaps) : between(gaps, 0.5);
    case "nearest": {
      const zeroBased = gaps - 1;
      const floor = Math.floor(zeroBased);
      const up = zeroBased - floor > 0.5 || (zeroBased - floor === 0.5 && floor % 2 === 1);
      return x(floor + (up ? 2 : 1));
    }
  }
}

/** Statistics of what survives, by brute force: exact sums, a sort, the definitions. */
function statsByHand(values: readonly number[], asked: Asked = {}): Expected {
  const { percentiles = [50, 90, 99], method = "linear", ddof = 0, nan = "reject" } = asked;
  const numbers = values.filter((value) => !Number.isNaN(value));
  const none = Object.fromEntries(percentiles.map((p) => [p, Number.NaN]));
  const nothing = {
    mean: Number.NaN,
    min: Number.NaN,
    max: Number.NaN,
    variance: Number.NaN,
    std: Number.NaN,
    percentiles: none,
  };
  if (nan !== "ignore" && numbers.length < values.length) return { count: values.length, sum: Number.NaN, ...nothing };
  if (numbers.length === 0) return { count: 0, sum: 0, ...nothing };
  const count = numbers.length;
  const sorted = [...numbers].sort((a, b) => a - b);
  const exact = momentsOf(numbers);
  const finite = numbers.every(Number.isFinite);
  const sum = finite ? exact.sum : numbers.filter((value) => !Number.isFinite(value)).reduce((a, b) => a + b);
  const variance = finite && count > ddof ? exact.m2 / (count - ddof) : Number.NaN;
  return {
    count,
    sum,
    mean: sum / count,
    min: sorted[0]!,
    max: sorted.at(-1)!,
    variance,
    std: Math.sqrt(variance),
    percentiles: Object.fromEntries(percentiles.map((p) => [p, percentileByHand(sorted, p, method)])),
  };
}

/** Small whole numbers need no long ones: their sums are exact as they are. */
function momentsOf(values: readonly number[]): { sum: number; m2: number } {
  if (!values.every((value) => Number.isInteger(value) && Math.abs(value) <= 10_000) || values.length > 1e5)
    return exactMoments(Float64Array.from(values));
  const sum = values.reduce((a, b) => a + b, 0);
  const squares = values.reduce((a, b) => a + b * b, 0);
  return { sum, m2: Number(BigInt(values.length) * BigInt(squares) - BigInt(sum) ** 2n) / values.length };
}

/**
 * Counts, extrema and order statistics are equal. Interpolated percentiles agree within 1e-12 and the rounding of their ends.
 * Sums agree within 1e-15 of the sum of absolute values, since each is rounded a few times. Variances agree within 1e-10
 * relative, and are exactly 0 where all values are equal.
 */
export function expectStats(actual: WindowStats, values: readonly number[], asked: Asked = {}): void {
  const expected = statsByHand(values, asked);
  expect(actual.count).toBe(expected.count);
  expect(actual.min + 0).toBe(expected.min + 0);
  expect(actual.max + 0).toBe(expected.max + 0);
  const sizes = values.reduce((sum, value) => sum + (Number.isFinite(value) ? Math.abs(value) : 0), 0);
  near("sum", actual.sum, expected.sum, Number.isFinite(sizes) ? 1e-15 * sizes : 1e292);
  near("mean", actual.mean, expected.mean, Number.isFinite(sizes) ? (2e-15 * sizes) / values.length : 1e292);
  // A variance among the denormals has few digits: each square may be rounded up to the smallest of them.
  const alike = values.every((value) => value === values[0]);
  const denormal = alike || !(expected.variance < 1e-290) ? 0 : values.length * Number.MIN_VALUE;
  // The mean that deviations are taken from is rounded once, and is off by the square of that at most.
  const meanRounding = alike || !Number.isFinite(expected.mean) ? 0 : (1.2e-16 * expected.mean) ** 2;
  near("variance", actual.variance, expected.variance, 1e-10 * expected.variance + denormal + meanRounding);
  const slack = Math.sqrt(expected.variance + denormal + meanRounding) - expected.std;
  near(
    "std",
    actual.std,
    expected.std,
    denormal ? Math.sqrt(expected.variance + denormal) : 1e-10 * expected.std + slack,
  );
  expect(Object.keys(actual.percentiles)).toEqual(Object.keys(expected.percentiles));
  const widest = Math.max(Math.abs(expected.min), Math.abs(expected.max));
  const rounding = widest < 1e300 ? 4e-16 * widest : 0;
  for (const [p, value] of Object.entries(expected.percentiles))
    near(`p${p}`, actual.percentiles[Number(p)]!, value, 1e-12 * Math.abs(value) + rounding);
}

/**
 * Compares two answers about one window. Edges, counts, extrema and percentiles are equal. Sums agree within 1e-15 of the sum
 * of absolute values (given, or count times the largest). Variances agree within 1e-10.
 */
export function expectAlike(actual: WindowStats, expected: WindowStats): void {
  const { sum, mean, variance, std, ...exact } = actual;
  const { sum: _sum, mean: _mean, variance: _variance, std: _std, ...same } = expected;
  expect(exact).toEqual(same);
  const widest = Math.max(Math.abs(expected.min), Math.abs(expected.max));
  const slack = Number.isFinite(widest) ? 1e-15 * widest : 0;
  near("sum", sum, expected.sum, slack * expected.count);
  near("mean", mean, expected.mean, slack);
  const rounding = expected.variance > 0 ? (1.2e-16 * expected.mean) ** 2 + expected.count * Number.MIN_VALUE : 0;
  near("variance", variance, expected.variance, 1e-10 * expected.variance + rounding);
  near("std", std, expected.std, Math.sqrt(expected.variance * (1 + 1e-10) + rounding) - expected.std);
}

function near(what: string, actual: number, expected: number, tolerance: number): void {
  const isNear =
    Object.is(actual, expected) || actual === expected || Math.abs(actual - expected) <= tolerance + 1e-323;
  if (!isNear) expect.fail(`${what} is ${actual}, by brute force ${expected} (allowed: ${tolerance})`);
}
