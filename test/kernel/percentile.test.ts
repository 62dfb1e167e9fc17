// The 13 methods as arithmetic: NumPy's printed examples, its quirks, and what strict promises instead.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { interpolateAsNumpy, type PercentileCompat, ranksAs } from "../../src/engine/kernel/percentile/numpy.ts";
import {
  interpolate,
  METHODS,
  type PercentileMethod,
  percentileRanks,
} from "../../src/engine/kernel/percentile/percentile.ts";

function percentile(
  sorted: readonly number[],
  p: number,
  method: PercentileMethod = "linear",
  compat: PercentileCompat = "strict",
): number {
  const order = ranksAs(compat, method, sorted.length, p);
  const [low, high] = [sorted[order.lower]!, sorted[order.upper]!];
  return compat === "strict" ? interpolate(order, low, high) : interpolateAsNumpy(order, low, high, "numpy");
}

const to100 = Array.from({ length: 101 }, (_, i) => i);
const from1 = to100.slice(1);
const INF = Number.POSITIVE_INFINITY;

describe("NumPy's examples", () => {
  test.each(
    Object.entries({
      linear: 29,
      inverted_cdf: 20,
      averaged_inverted_cdf: 27.5,
      closest_observation: 20,
      interpolated_inverted_cdf: 20,
      hazen: 27.5,
      weibull: 26,
      median_unbiased: 27,
      normal_unbiased: 27.125,
      lower: 20,
      higher: 35,
      midpoint: 27.5,
      nearest: 35,
    }),
  )("p40 of 15 20 35 40 50 by %s is %d", (method, answer) => {
    expect(percentile([15, 20, 35, 40, 50], 40, method as PercentileMethod, "numpy")).toBe(answer);
    expect(percentile([15, 20, 35, 40, 50], 40, method as PercentileMethod)).toBeCloseTo(answer, 12);
  });

  test("p99 of 0 ... n - 1", () => {
    for (const [n, answer] of [
      [1, 0],
      [2, 0.99],
      [10, 8.91],
      [50, 48.51],
      [100, 98.01],
      [101, 99],
    ] as const)
      expect(percentile(to100.slice(0, n), 99, "linear", "numpy")).toBe(answer);
  });

  test('p / 100 is rounded by "numpy", not by "strict"', () => {
    for (const [p, rounded] of [
      [7, 8],
      [14, 15],
      [28, 29],
      [55, 56],
      [56, 57],
    ] as const) {
      expect(percentile(to100, p, "higher", "numpy")).toBe(rounded);
      expect(percentile(to100, p, "higher")).toBe(p);
      expect(percentile(from1, p, "inverted_cdf", "numpy")).toBe(rounded);
      expect(percentile(from1, p, "inverted_cdf")).toBe(p);
    }
    for (const [p, rounded] of [
      [29, 28],
      [57, 56],
      [58, 57],
    ] as const) {
      expect(percentile(to100, p, "lower", "numpy")).toBe(rounded);
      expect(percentile(to100, p, "lower")).toBe(p);
    }
  });

  test("halves are rounded to even", () => {
    expect(
      [
        [0, 1, 2, 3],
        [0, 1],
        [0, 1, 2, 3, 4, 5],
      ].map((list) => percentile(list, 50, "nearest")),
    ).toEqual([2, 0, 2]);
    expect([12.5, 37.5, 62.5, 87.5].map((p) => percentile([1, 2, 3, 4], p, "closest_observation", "numpy"))).toEqual([
      1, 2, 2, 4,
    ]);
  });
});

describe("infinities and the ends of the range", () => {
  test('"numpy" computes with them', () => {
    const at = (list: number[], ps: number[]) => ps.map((p) => percentile(list, p, "linear", "numpy"));
    expect(at([1, INF], [0, 25, 50, 75, 100])).toEqual([Number.NaN, INF, Number.NaN, Number.NaN, Number.NaN]);
    expect(at([-INF, 1], [25, 50, 75])).toEqual([Number.NaN, -INF, -INF]);
    expect(at([1, 2, INF], [50])).toEqual([Number.NaN]);
    expect(at([1, 2, 3, INF], [50])).toEqual([2.5]);
    expect(at([-1.7e308, 1.7e308], [0, 25, 50, 75, 100])).toEqual([Number.NaN, INF, -INF, -INF, 1.7e308]);
    expect((["inverted_cdf", "lower", "nearest"] as const).map((m) => percentile([1, 2, INF], 50, m, "numpy"))).toEqual(
      [2, 2, 2],
    );
  });

  test('"strict" stays inside the range', () => {
    const at = (list: number[], ps: number[]) => ps.map((p) => percentile(list, p));
    expect(at([1, INF], [0, 25, 50, 100])).toEqual([1, INF, INF, INF]);
    expect(at([-INF, 1], [0, 25, 75, 100])).toEqual([-INF, -INF, -INF, 1]);
    expect(at([-INF, INF], [0, 25, 50, 75])).toEqual([-INF, -INF, 0, INF]);
    expect(at([INF, INF], [0, 50, 100])).toEqual([INF, INF, INF]);
    expect(at([1, 2, INF], [50])).toEqual([2]);
    expect(at([-1.7e308, 1.7e308], [0, 25, 50, 75, 100])).toEqual([-1.7e308, -8.5e307, 0, 8.5e307, 1.7e308]);
    expect(at([0.1, 0.1, 0.1], [33, 66])).toEqual([0.1, 0.1]);
  });
});

test("strict answers lie within the ends, rise with p, and equal an order statistic at its whole weight", () => {
  const values = fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(
      values,
      fc.constantFrom(...METHODS),
      fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 2 }),
      (list, method, ps) => {
        const sorted = Float64Array.from(list).sort();
        const answers = ps.sort((a, b) => a - b).map((p) => percentile([...sorted], p, method));
        for (const [i, x] of answers.entries()) {
          expect(x).toBeGreaterThanOrEqual(i === 0 ? sorted[0]! : answers[i - 1]!);
          expect(x).toBeLessThanOrEqual(sorted.at(-1)!);
        }
        for (const k of sorted.keys())
          if (sorted.length > 1 && Number.isInteger((100 * k) / (sorted.length - 1)))
            expect(percentile([...sorted], (100 * k) / (sorted.length - 1))).toBe(sorted[k]);
      },
    ),
  );
});

test("invalid arguments are refused", () => {
  for (const p of [-1e-9, 100.0000001, 101, Number.NaN])
    expect(() => percentileRanks("linear", 5, p)).toThrow(`percentile is ${p}; it must be from 0 to 100 (percent)`);
  expect(() => percentileRanks("median" as PercentileMethod, 5, 50)).toThrow(
    `method is "median"; it must be one of ${METHODS.join(", ")}`,
  );
});
