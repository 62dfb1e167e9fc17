// kernel.stats, in every build: against brute force with exact sums, at any alignment, around pieces and blocks.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ColumnStats, forceKernel, kernel } from "../../src/entries/kernel.ts";
import { type ColumnType, randomOf, SHAPES, TYPES } from "./columns.ts";
import { exactMoments, inOrder, sumError } from "./oracle.ts";

const NAMES = ["wasm-simd", "wasm-scalar", "js"] as const;
const PERCENTILES = [0, 1, 50, 99, 100];
const bytesAt = (column: ArrayBufferView, offset: number) => {
  const whole = new Uint8Array(column.byteLength + 16).fill(0xa5);
  whole.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), offset);
  return whole.subarray(offset, offset + column.byteLength);
};

/** The expected answer, by the method "lower", so that each percentile is a value. */
function judge(Type: ColumnType, inside: number[]): (answer: ColumnStats, where: string) => void {
  const known = inside.filter((x) => !Number.isNaN(x)).sort(inOrder);
  const finite = known.every(Number.isFinite);
  const n = known.length;
  const exact = exactMoments(new Type(known));
  const values = PERCENTILES.map((p) => (n === 0 ? Number.NaN : known[Math.floor(((n - 1) * p) / 100)]));
  return (answer, where) => {
    expect(answer.count, where).toBe(n);
    expect(answer.nanCount, where).toBe(inside.length - n);
    expect(answer.min, where).toBe(n === 0 ? Number.NaN : known[0]);
    expect(answer.max, where).toBe(n === 0 ? Number.NaN : known[n - 1]);
    const percentiles = PERCENTILES.map((p) => answer.percentiles[p]);
    expect(percentiles, where).toEqual(values);
    if (!finite) expect(answer.variance, where).toBeNaN();
    else if (n > 0) {
      expect(sumError(exact, answer.sum, 0), where).toBeLessThan(2 ** -52);
      if (exact.m2 === 0) expect(answer.variance, where).toBe(0);
      else expect(Math.abs(answer.variance / (exact.m2 / n) - 1), where).toBeLessThan(1e-12);
    } else expect([answer.sum, answer.mean, answer.std], where).toEqual([0, Number.NaN, Number.NaN]);
  };
}

test.each(Object.keys(SHAPES))(
  "%s, in every kernel: sorted and unsorted, around pieces and blocks, at any address",
  (shape) => {
    for (const Type of TYPES)
      for (const n of [0, 1, 5, 4097, 16_383, 16_384, 20_481, 40_961]) {
        const random = randomOf(n + 3);
        const list = [...new Type(SHAPES[shape]!(n, random))];
        const order = Array.from({ length: n }, (_, i) => i - 2);
        for (const sorted of [true, false]) {
          const instants = sorted ? order : order.map(() => Math.floor(random() * n) - 2);
          const times = bytesAt(BigInt64Array.from(instants, BigInt), 3);
          const values = bytesAt(new Type(list), n % 8);
          const [from, until] = [Math.floor(n / 50), n - Math.floor(n / 3)];
          const both = n % 2 === 0;
          const isInside = (time: number) => (both ? time >= from : time > from) && time <= until;
          const check = judge(
            Type,
            list.filter((_, i) => isInside(instants[i]!)),
          );
          for (const name of NAMES) {
            forceKernel(name);
            const answer = kernel.stats(times, values, from, {
              until,
              sorted,
              closed: both ? "both" : "right",
              type: Type === Float32Array ? "f32" : "f64",
              nan: "ignore",
              percentiles: PERCENTILES,
              method: "lower",
            });
            check(answer, `${name} ${shape} ${Type.name} n=${n} sorted=${sorted}`);
          }
        }
      }
  },
);

afterEach(() => forceKernel(null));

describe.each(NAMES)("%s", (name) => {
  beforeEach(() => forceKernel(name));

  test("times whose bits are zeros, infinities and NaN as f64", () => {
    const infinity = 0x7ffn << 52n;
    const edges = [0n, 1n, infinity - 1n, infinity, infinity + 1n, 2n ** 63n - 1n];
    const all = [...edges, ...edges.map((t) => t - 2n ** 63n), -(2n ** 52n), -5n, -1n].sort((a, b) => (a < b ? -1 : 1));
    const n = 20_000;
    const times = BigInt64Array.from({ length: n }, (_, i) => all[(i * 7) % all.length]!);
    const values = Float32Array.from({ length: n }, (_, i) => i);
    const wrong = all.flatMap((from) =>
      all.filter((until) => {
        const { count, sum } = kernel.stats(times, values, from, { until, closed: "both", percentiles: [] });
        const inside = [...times.keys()].filter((i) => from <= times[i]! && times[i]! <= until);
        return count !== inside.length || sum !== inside.reduce((total, i) => total + i, 0);
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("times before 1970, more than 2^32 apart, and at the ends of i64", () => {
    const n = 20_000;
    const values = Float32Array.from({ length: n }, (_, i) => i);
    const times = BigInt64Array.from({ length: n }, (_, i) => (BigInt(i) - 10_000n) * 2n ** 40n);
    times[0] = -(2n ** 63n);
    times[n - 1] = 2n ** 63n - 1n;
    for (const sorted of [true, false]) {
      const at = (cutoff: bigint, until?: bigint) => kernel.stats(times, values, cutoff, { sorted, until }).count;
      expect(at(-(2n ** 70n))).toBe(n);
      expect(at(-(2n ** 63n))).toBe(n - 1);
      expect(at(-1n, 2n ** 40n)).toBe(2);
      expect(at(2n ** 63n - 2n)).toBe(1);
      expect(at(2n ** 63n - 1n)).toBe(0);
      expect(at(0n, -5n)).toBe(0);
      expect(at(-5000n * 2n ** 40n, 5000n * 2n ** 40n)).toBe(10_000);
    }
  });

  test("an offset of 1e9 with drifting blocks, outliers, one value, and sums out of range", () => {
    const n = 100 * 4096;
    const times = new BigInt64Array(n);
    const make = (value: (i: number) => number) => Float64Array.from({ length: n }, (_, i) => value(i));
    for (const values of [
      make((i) => 1e9 + [4, 7, 13, 16][i % 4]! + Math.floor(i / 4096) * 1e-3),
      make((i) => (i === 5000 ? 1e16 : 0.1)),
    ]) {
      const { sum, variance } = kernel.stats(times, values, -1, { sorted: true });
      const exact = exactMoments(values);
      expect(sumError(exact, sum, 0)).toBeLessThan(2 ** -52);
      expect(Math.abs(variance / (exact.m2 / n) - 1)).toBeLessThan(1e-12);
    }
    expect(
      kernel.stats(
        times,
        make(() => 0.1),
        -1,
      ),
    ).toMatchObject({ mean: 0.1, variance: 0, std: 0, min: 0.1 });
    expect(
      kernel.stats(
        times,
        make((i) => (i % 2 ? 1e308 : -1e308)),
        -1,
      ),
    ).toMatchObject({ sum: 0, min: -1e308, max: 1e308 });
  });

  test("equals trim, sum, moments and percentile, also by NumPy's law", () => {
    const random = randomOf(9);
    const n = 50_000;
    const times = BigInt64Array.from({ length: n }, () => BigInt(Math.floor(random() * 1000)));
    for (const Type of TYPES) {
      const values = new Type(SHAPES.lognormal!(n, random));
      for (const compat of ["strict", "numpy"] as const) {
        const kept = kernel.trim(times, values, 99, { until: 900 }).values;
        const { sum, percentiles, nanCount, ...moments } = kernel.stats(times, values, 99, {
          until: 900,
          compat,
          ddof: 1,
        });
        expect(sum).toBe(kernel.sum(kept, { compat }));
        expect(moments).toEqual(kernel.moments(kept, { compat, ddof: 1 }));
        expect([percentiles[50], percentiles[90], percentiles[99]]).toEqual(
          kernel.percentile(kept, [50, 90, 99], { compat }),
        );
        expect(nanCount).toBe(0);
      }
    }
  });

  test("NaN inside the window is rejected with its index, ignored, or propagated; outside it has no effect", () => {
    const n = 30_000;
    const times = BigInt64Array.from({ length: n }, (_, i) => BigInt(i));
    const values = Float32Array.from({ length: n }, (_, i) => i);
    values[77] = Number.NaN;
    values[20_001] = Number.NaN;
    for (const sorted of [true, false]) {
      expect(() => kernel.stats(times, values, 0, { sorted })).toThrow("values[77] is NaN");
      expect(() => kernel.stats(times, values, 100, { sorted })).toThrow("values[20001] is NaN");
      expect(kernel.stats(times, values, 100, { sorted, until: 20_000 }).count).toBe(19_900);
      const spread = kernel.stats(times, values, 0, { sorted, nan: "propagate", percentiles: [50] });
      expect(spread).toMatchObject({ count: n - 1, nanCount: 2, sum: Number.NaN, percentiles: { 50: Number.NaN } });
      expect(kernel.stats(times, values, -1, { sorted, nan: "ignore" })).toMatchObject({ count: n - 2, nanCount: 2 });
    }
  });
});

test("all kernels have the same bits", () => {
  const value = fc.oneof(
    fc.double({ noNaN: true }),
    fc.double({ min: -1e3, max: 1e3, noNaN: true }),
    fc.integer({ min: -3, max: 3 }),
  );
  const column = fc.tuple(
    fc.array(value, { minLength: 1, maxLength: 300 }),
    fc.constantFrom(1, 60, 200),
    fc.constantFrom(...TYPES),
    fc.boolean(),
    fc.nat({ max: 1000 }),
  );
  fc.assert(
    fc.property(column, ([list, repeats, Type, sorted, cutoff]) => {
      const values = new Type(list.length * repeats).map((_, i) => list[i % list.length]! * (1 + (i % 7)));
      const times = BigInt64Array.from(values, (_, i) => BigInt(sorted ? i : (i * 7919) % 1009));
      const [simd, ...others] = NAMES.map((name) => {
        forceKernel(name);
        return kernel.stats(times, values, cutoff, { sorted, percentiles: [0, 10, 50, 99.9] });
      });
      for (const other of others) expect(other).toStrictEqual(simd);
    }),
    { numRuns: 60 },
  );
});

test("invalid arguments are refused", () => {
  const times = BigInt64Array.of(1n, 2n);
  const values = Float32Array.of(1, 2);
  // biome-ignore lint/suspicious/noExplicitAny: wrong on purpose
  const any = (x: unknown): any => x;
  const refused: [() => unknown, string, string][] = [
    [() => kernel.stats(new Uint8Array(13), values, 0), "CORRUPT", "times ends in the middle of a value: 5 of 8 bytes"],
    [() => kernel.stats(times, new Uint8Array(9), 0), "CORRUPT", "values ends in the middle of a value: 1 of 4 bytes"],
    [() => kernel.stats(times, values.subarray(1), 0), "ARGUMENT", "values.length is 1; it must be 2"],
    [() => kernel.stats(any([1]), values, 0), "ARGUMENT", "times is an array"],
    [() => kernel.stats(times, values, Number.NaN), "ARGUMENT", "cutoff is NaN"],
    [() => kernel.stats(times, values, 0, { percentiles: any(99) }), "ARGUMENT", "percentiles is 99"],
    [() => kernel.stats(times, values, 0, { percentiles: [101] }), "ARGUMENT", "percentile is 101"],
    [() => kernel.stats(times, values, 0, { method: any("best") }), "ARGUMENT", 'method is "best"'],
    [() => kernel.stats(times, values, 0, { ddof: -1 }), "ARGUMENT", "ddof is -1"],
    [() => kernel.stats(times, values, 0, { closed: any("left") }), "ARGUMENT", 'closed is "left"'],
    [() => kernel.stats(times, values, 0, { nan: any("drop") }), "ARGUMENT", 'nan is "drop"'],
  ];
  for (const [call, code, message] of refused)
    expect(call).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
});
