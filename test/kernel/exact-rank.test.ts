// The strict law of percentiles against fractions of whole numbers, straight from the definitions of the 13 methods.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  METHODS,
  type PercentileMethod,
  type PercentileRanks,
  percentileRanks,
} from "../../src/engine/kernel/percentile/percentile.ts";

/** A fraction of whole numbers; the denominator is positive. */
type Fraction = readonly [numerator: bigint, denominator: bigint];

const add = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d];
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
const floorOf = ([a, b]: Fraction) => (a < 0n && a % b !== 0n ? a / b - 1n : a / b);
const ceilOf = ([a, b]: Fraction) => -floorOf([-a, b]);
const restOf = (x: Fraction): Fraction => add(x, [-floorOf(x), 1n]);
const compare = ([a, b]: Fraction, [c, d]: Fraction) => Number(a * d > c * b) - Number(a * d < c * b);

/** p as it is printed, over 100. */
function shareOf(p: number): Fraction {
  const [, integer = "", fraction = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(p))!;
  const power = BigInt(Number(exponent) - fraction.length - 2);
  const digits = BigInt(integer + fraction);
  return power < 0n ? [digits, 10n ** -power] : [digits * 10n ** power, 1n];
}

const PLOTTING: Record<string, readonly [Fraction, Fraction]> = {
  interpolated_inverted_cdf: [
    [0n, 1n],
    [1n, 1n],
  ],
  hazen: [
    [1n, 2n],
    [1n, 2n],
  ],
  weibull: [
    [0n, 1n],
    [0n, 1n],
  ],
  median_unbiased: [
    [1n, 3n],
    [1n, 3n],
  ],
  normal_unbiased: [
    [3n, 8n],
    [3n, 8n],
  ],
  linear: [
    [1n, 1n],
    [1n, 1n],
  ],
};

/** The 0-based rank, whole or not, by Hyndman and Fan: n q + alpha + q (1 - alpha - beta) - 1. */
function rankOf(method: string, n: bigint, q: Fraction): Fraction {
  const [alpha, beta] = PLOTTING[method]!;
  const rest = add([1n, 1n], times([-1n, 1n], add(alpha, beta)));
  return add(add(times([n, 1n], q), add(alpha, times(q, rest))), [-1n, 1n]);
}

interface Expected {
  lower: number;
  weight: Fraction;
}

function expectedOrder(method: PercentileMethod, count: number, p: number): Expected {
  const n = BigInt(count);
  const q = shareOf(p);
  const gaps = times([n - 1n, 1n], q);
  const all = times([n, 1n], q);
  const at = (rank: bigint): Expected => ({ lower: Number(rank < 0n ? 0n : rank), weight: [0n, 1n] });
  const half: Fraction = [1n, 2n];
  if (method === "lower") return at(floorOf(gaps));
  if (method === "higher") return at(ceilOf(gaps));
  if (method === "nearest" || method === "closest_observation") {
    // The closest rank; half-way the even one: of 0-based ranks, and of ranks from 1.
    const [rank, origin] = method === "nearest" ? [gaps, 0n] : [add(all, [-1n, 1n]), 1n];
    const order = compare(restOf(rank), half);
    const floor = floorOf(rank);
    return at(order < 0 || (order === 0 && (floor + origin) % 2n === 0n) ? floor : floor + 1n);
  }
  if (method === "inverted_cdf") return at(ceilOf(all) - 1n);
  const rank =
    method === "midpoint" ? gaps : method === "averaged_inverted_cdf" ? add(all, [-1n, 1n]) : rankOf(method, n, q);
  if (compare(rank, [n - 1n, 1n]) >= 0) return at(n - 1n);
  if (compare(rank, [0n, 1n]) < 0) return at(0n);
  const isWhole = restOf(rank)[0] === 0n;
  const weight: Record<string, Fraction> = {
    midpoint: isWhole ? [0n, 1n] : half,
    averaged_inverted_cdf: isWhole ? half : [1n, 1n],
  };
  return { lower: Number(floorOf(rank)), weight: weight[method] ?? restOf(rank) };
}

function expectOrder(method: PercentileMethod, n: number, p: number): void {
  const order: PercentileRanks = percentileRanks(method, n, p);
  const { lower, weight } = expectedOrder(method, n, p);
  expect(order.lower, `${method}, n ${n}, p ${p}`).toBe(lower);
  expectNearest(order.weight, weight, `the weight of ${method}, n ${n}, p ${p}`);
}

/** A double as a fraction. */
function fractionOf(x: number): Fraction {
  let power = 0n;
  for (; !Number.isSafeInteger(x); x *= 2) power++;
  return [BigInt(x), 2n ** power];
}

const view = new DataView(new ArrayBuffer(8));

/** The next double above or below a positive one; undefined below 0. */
function neighbour(x: number, step: 1n | -1n): number | undefined {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0) + step;
  if (bits < 0n) return undefined;
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

const isEven = (x: number) => {
  view.setFloat64(0, x);
  return view.getBigUint64(0) % 2n === 0n;
};

function distance(x: number, exact: Fraction): Fraction {
  const [numerator, denominator] = add(fractionOf(x), [-exact[0], exact[1]]);
  return [numerator < 0n ? -numerator : numerator, denominator];
}

/** No other double is nearer, and of two equally near ones it is the even one. */
function expectNearest(x: number, exact: Fraction, what: string): void {
  const own = distance(x, exact);
  for (const step of [1n, -1n] as const) {
    const other = neighbour(x, step);
    if (other === undefined) continue;
    const order = compare(own, distance(other, exact));
    expect(order < 0 || (order === 0 && isEven(x)), `${what}: ${x}, but ${other} is as near`).toBe(true);
  }
}

describe("the strict law", () => {
  test("reads p as the printed decimal", () => {
    expect(percentileRanks("inverted_cdf", 250, 64.4).lower).toBe(160); // 250 * 64.4 / 100 is 161
    expect(percentileRanks("linear", 1001, 99.9)).toEqual({ lower: 999, upper: 1000, weight: 0, isDiscrete: false });
    expect(percentileRanks("higher", 1001, 0.7).lower).toBe(7);
  });

  test("equals the definitions in fractions for every method", () => {
    const p = fc.oneof(
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1000),
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 1e-290, noNaN: true }),
      fc.double({ min: 100 - 1e-9, max: 100, noNaN: true }),
      fc.constantFrom(100 / 3, 200 / 3, 5e-324, 1e-9, 99.999999999, 100 - 2 ** -46),
    );
    const n = fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 2 ** 32 }),
      fc.integer({ min: 2 ** 32, max: 2 ** 40 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...METHODS), n, p, (method, count, percent) => expectOrder(method, count, percent)),
      { numRuns: 5000, examples: [["linear", 176, 5.332934962875537e-302]] },
    );
  });

  test("equals the definitions at whole ranks", () => {
    for (const method of METHODS)
      for (const n of [2, 5, 8, 40, 125, 250, 1000, 1001])
        for (let tenths = 0; tenths <= 1000; tenths += 7) expectOrder(method, n, tenths / 10);
  });
});
