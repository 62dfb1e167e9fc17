// Rolling percentiles against the definition: each event's window cut out and sorted, in every form, in pieces of any size.
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPython } from "../../../scripts/find-programs.mjs";
import type { Column } from "../../../src/engine/kernel/contract.ts";
import {
  interpolate,
  METHODS,
  type PercentileMethod,
  percentileRanks,
} from "../../../src/engine/kernel/percentile/percentile.ts";
import { RankTables } from "../../../src/engine/kernel/rolling/rank-tables.ts";
import { rollPieces } from "../../../src/engine/kernel/rolling/rolling-pieces.ts";
import { forceKernel, kernel, rollingPercentile } from "../../../src/entries/kernel.ts";
import { BUILDS } from "../builds.ts";
import { bytesOf, guarded, randomOf, SHAPES, TYPES } from "../columns.ts";
import { inOrder } from "../oracle.ts";

type Closed = "right" | "both";

/** The definition, for each event: look at all up to it, sort what is inside. */
function byDefinition(
  times: readonly number[],
  values: Column,
  spanMs: number,
  p: number,
  { closed = "right" as Closed, nan = "ignore" as "ignore" | "propagate", method = "linear" as PercentileMethod } = {},
): Float64Array {
  return Float64Array.from(values, (_, i) => {
    const cutoff = times[i]! - spanMs;
    const inside = [...values.subarray(0, i + 1)].filter((_x, j) =>
      closed === "both" ? times[j]! >= cutoff : times[j]! > cutoff,
    );
    const known = inside.filter((x) => !Number.isNaN(x)).sort(inOrder);
    if (known.length === 0 || (nan === "propagate" && known.length < inside.length)) return Number.NaN;
    const order = percentileRanks(method, known.length, p);
    return interpolate(order, known[order.lower]!, known[order.upper]!);
  });
}

/** Steps between times: mostly even, or bursts of many events at once and long pauses. */
const STEPS: Record<string, (random: () => number) => number> = {
  even: () => 1,
  ties: (random) => Math.floor(3 * random()),
  bursts: (random) => (random() < 0.01 ? 1000 : random() < 0.9 ? 0 : 1),
  sparse: (random) => 50 + Math.floor(200 * random()),
};

const MORE: typeof SHAPES = {
  ...SHAPES,
  drift: (n, random) => Array.from({ length: n }, (_, i) => i / 8 + random()),
  alternating: (n) => Array.from({ length: n }, (_, i) => (i % 2 ? 1e6 + i : -i)),
  // So similar that the leading bits are equal and insertion gives up.
  outlier: (n, random) => Array.from({ length: n }, (_, i) => (i === n >> 1 ? 1e30 : 1 + random() / 1024)),
};

const scenario = fc.record({
  n: fc.integer({ min: 0, max: 260 }),
  seed: fc.nat(),
  shape: fc.constantFrom(...Object.keys(MORE)),
  step: fc.constantFrom(...Object.keys(STEPS)),
  span: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5000 })),
  piece: fc.constantFrom(1, 2, 7, 64, 8192),
  p: fc.oneof(fc.constantFrom(0, 1, 50, 99, 100), fc.double({ min: 0, max: 100, noNaN: true })),
  method: fc.constantFrom(...METHODS),
  closed: fc.constantFrom<Closed>("right", "both"),
  nan: fc.constantFrom("ignore" as const, "propagate" as const),
  Type: fc.constantFrom(...TYPES),
});

function timesOf(n: number, step: string, random: () => number, from = 0): number[] {
  let now = from;
  return Array.from({ length: n }, () => {
    now += STEPS[step]!(random);
    return now;
  });
}

test("all kernels answer by the definition, in pieces of any size", () => {
  fc.assert(
    fc.property(scenario, ({ n, seed, shape, step, span, piece, p, method, closed, nan, Type }) => {
      const random = randomOf(seed);
      const { column, check } = guarded(Type, MORE[shape]!(n, random));
      const before = Buffer.from(bytesOf(column));
      const times = timesOf(n, step, random, -50);
      const right = byDefinition(times, column, span, p, { closed, nan, method });
      const hasNan = column.some((x) => Number.isNaN(x));
      for (const build of BUILDS)
        for (const Times of [Float64Array.from(times), BigInt64Array.from(times, BigInt)]) {
          const windows = { times: Times, spanMs: span, both: closed === "both" };
          const orders = [new RankTables(method, p), new RankTables("lower", 100)];
          const [answers] = rollPieces(build, column, windows, orders, hasNan ? nan : "none", piece);
          expect(bytesOf(answers!).equals(bytesOf(right)), `${build.name}`).toBe(true);
        }
      expect(check()).toBe(true);
      expect(bytesOf(column).equals(before)).toBe(true);
    }),
    { numRuns: 400 },
  );
});

/** pandas' time-based windows are ours, those of equal times included. */
const PANDAS = `
import json, sys
import pandas as pd
given = json.load(sys.stdin)
series = pd.Series(given["values"], index=pd.to_datetime(given["times"], unit="ms"))
for closed in ("right", "both"):
    rolling = series.rolling(f"{given['span']}ms", closed=closed)
    print(json.dumps(rolling.quantile(given["p"] / 100).tolist()))
`;
const python = findPython("pandas");
if (!python) console.warn("skipped: no Python with pandas; `npm run test:all` unpacks one");

test.runIf(python)("pandas has the same answers over time, also for events of one time", () => {
  const random = randomOf(9);
  const times = timesOf(500, "ties", random, 1_700_000_000_000);
  const values = Float64Array.from(times, () => Math.floor(100 * random()));
  const input = JSON.stringify({ times, values: [...values], span: 12, p: 75 });
  const { stdout } = spawnSync(python!, ["-c", PANDAS], { input, encoding: "utf8" });
  const [right, both] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as number[]);
  for (const [closed, expected] of [
    ["right", right!],
    ["both", both!],
  ] as const) {
    const options = { span: 12, percentiles: [75], closed };
    const { 75: answers } = rollingPercentile(Float64Array.from(times), values, options);
    for (let i = 0; i < times.length; i++) expect(answers![i], `${closed} ${i}`).toBeCloseTo(expected[i]!, 9);
  }
});

describe.each(["wasm-simd", "wasm-scalar", "js"] as const)("%s", (name) => {
  beforeAll(() => forceKernel(name));
  afterAll(() => forceKernel(null));

  // Beyond 32768 values rankings look at 32 bits, beyond 2^18 ranks the third level has more words than one.
  test.each(["lognormal", "wide", "ties", "sorted", "reversed", "alternating", "outlier"])(
    "large windows of %s",
    (shape) => {
      const n = 300_000;
      for (const Type of TYPES) {
        const values = new Type(MORE[shape]!(n, randomOf(3)));
        const times = BigInt64Array.from(values, (_, i) => BigInt(i));
        for (const span of [1, 20, 100_000]) {
          const answers = rollingPercentile(times, values, { span, percentiles: [50, 99.5] });
          for (const i of [0, 1, 8191, 99_999, 100_000, 200_001, n - 1])
            for (const p of [50, 99.5])
              expect(answers[p]![i], `${span} ${i} ${p}`).toBe(
                kernel.percentile(values.subarray(Math.max(0, i + 1 - span), i + 1), p),
              );
        }
      }
    },
  );

  test("windows whose counts jump from one to thousands and back", () => {
    const times = Float64Array.from({ length: 30_000 }, (_, i) =>
      i % 10_000 < 5000 ? 1000 * i : 1000 * (i - (i % 10_000)) + 5e6,
    );
    const values = Float64Array.from(times, (_, i) => (i * 7919) % 10_007);
    const { 90: answers } = rollingPercentile(times, values, { span: 1000, percentiles: [90] });
    for (let i = 0, start = 0; i < times.length; i++) {
      while (times[start]! <= times[i]! - 1000) start++;
      if (i % 97 === 0 || i - start < 3) expect(answers![i]).toBe(kernel.percentile(values.subarray(start, i + 1), 90));
    }
  });

  test("a few events that remain in a set of a million ranks", () => {
    const [n, burst, random] = [902_000, 900_000, randomOf(5)];
    const times = Float64Array.from({ length: n }, (_, i) => (i < burst ? i / 1000 : 10_000 + (i - burst) * 400));
    const values = Float64Array.from(times, random);
    const answers = rollingPercentile(times, values, { span: 1000, percentiles: [0, 50, 100] });
    const wrong = [0, 50, 100].filter((p) =>
      answers[p]!.subarray(burst + 5).some(
        (answer, j) => answer !== kernel.percentile(values.subarray(burst + j + 3, burst + j + 6), p),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test("no event, one event, and equal times", () => {
    const options = { span: "1s", percentiles: [50, 0] } as const;
    const none = rollingPercentile(new Float64Array(), new Float32Array(), options);
    expect(none).toEqual({ 0: new Float64Array(), 50: new Float64Array() });
    expect(rollingPercentile(BigInt64Array.of(7n), Float32Array.of(3), options)[50]).toEqual(Float64Array.of(3));
    const times = Float64Array.of(5, 5, 5, 1005);
    const at = (closed: Closed) => rollingPercentile(times, Float64Array.of(1, 2, 4, 8), { ...options, closed })[50];
    expect(at("right")).toEqual(Float64Array.of(1, 1.5, 2, 8));
    expect(at("both")).toEqual(Float64Array.of(1, 1.5, 2, 3));
    expect(rollingPercentile(times, Float32Array.of(1, 2, 4, 8), { span: 1, percentiles: [] })).toEqual({});
  });

  test("NaN is rejected with its index, ignored, or propagated while it is inside", () => {
    const times = Float64Array.of(1, 2, 3, 4, 5);
    const values = Float32Array.of(Number.NaN, 1, Number.NaN, 2, 4);
    const at = (nan: "ignore" | "propagate") => [
      ...rollingPercentile(times, values, { span: 2, percentiles: [50], nan })[50]!,
    ];
    expect(() => rollingPercentile(times, values, { span: 2, percentiles: [50] })).toThrow("values[0] is NaN");
    expect(at("ignore")).toEqual([Number.NaN, 1, 1, 2, 3]);
    expect(at("propagate")).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN, 3]);
  });

  test("infinities, zeros and the ends of f64 give the same as a single percentile", () => {
    const values = Float64Array.of(
      -1.7e308,
      1.7e308,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      -0,
      0,
      5e-324,
    );
    const times = Float64Array.from(values, (_, i) => i);
    for (const p of [0, 25, 50, 60, 75, 100]) {
      const { [p]: answers } = rollingPercentile(times, values, { span: 3, percentiles: [p] });
      for (let i = 0; i < values.length; i++)
        expect(answers![i]).toBe(kernel.percentile(values.subarray(Math.max(0, i - 2), i + 1), p));
    }
  });

  test("bytes at any address, and times far from zero", () => {
    const values = Float32Array.from({ length: 100 }, (_, i) => Math.sin(i));
    const times = BigInt64Array.from(values, (_, i) => 2n ** 62n + BigInt(i));
    const options = { span: 10, percentiles: [99] };
    const right = rollingPercentile(times, values, options);
    for (let offset = 0; offset < 9; offset++) {
      const bytes = Buffer.alloc(2000);
      bytes.set(bytesOf(values), offset);
      bytes.set(bytesOf(times), 1000 + offset);
      const [v, t] = [bytes.subarray(offset, offset + 400), bytes.subarray(1000 + offset, 1800 + offset)];
      expect(rollingPercentile(t, v, options)).toEqual(right);
    }
    const long = BigInt64Array.of(-(2n ** 52n), 2n ** 52n - 1n);
    expect(rollingPercentile(long, Float32Array.of(1, 2), { span: 1, percentiles: [0] })[0]).toEqual(
      Float64Array.of(1, 2),
    );
  });
});
