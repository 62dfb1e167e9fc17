// The public `kernel` object, in every build: inputs at any address, empty columns, NaN policies, hard sums, refusals.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forceKernel, kernel } from "../../src/entries/kernel.ts";

const INF = Number.POSITIVE_INFINITY;

describe.each(["wasm-simd", "wasm-scalar", "js"] as const)("%s", (name) => {
  beforeAll(() => forceKernel(name));
  afterAll(() => forceKernel(null));

  test("has its name", () => expect(kernel.name).toBe(name));

  test("bytes at any address give the same answer as the typed array, and do not change", () => {
    for (const [Type, type] of [
      [Float32Array, "f32"],
      [Float64Array, "f64"],
    ] as const)
      for (let offset = 0; offset < 9; offset++) {
        const values = new Type(Array.from({ length: 101 }, (_, i) => Math.sin(i) * 100));
        const bytes = Buffer.alloc(values.byteLength + 32, 0xa5);
        bytes.set(new Uint8Array(values.buffer), offset);
        const before = Buffer.from(bytes);
        const slice = bytes.subarray(offset, offset + values.byteLength);
        expect(kernel.sum(slice, { type })).toBe(kernel.sum(values));
        expect(kernel.percentile(slice, 99, { type })).toBe(kernel.percentile(values, 99));
        expect(kernel.moments(slice, { type })).toEqual(kernel.moments(values));
        const times = BigInt64Array.from({ length: 101 }, (_, i) => BigInt(i));
        const timeBytes = Buffer.alloc(times.byteLength + 32);
        timeBytes.set(new Uint8Array(times.buffer), offset);
        const timeSlice = timeBytes.subarray(offset, offset + times.byteLength);
        expect(kernel.trim(timeSlice, slice, 49, { type })).toEqual({
          times: times.slice(50),
          values: values.slice(50),
        });
        expect(bytes.equals(before)).toBe(true);
      }
  });

  test("empty columns have their documented answers", () => {
    const none = new Float32Array();
    expect(kernel.sum(none)).toBe(0);
    expect(kernel.percentile(none, 50)).toBeNaN();
    expect(kernel.percentile(none, [50, 99])).toEqual([Number.NaN, Number.NaN]);
    const nan = Number.NaN;
    expect(kernel.moments(none)).toEqual({ count: 0, mean: nan, variance: nan, std: nan, min: nan, max: nan });
    expect(kernel.trim(new BigInt64Array(), none, 0).values.length).toBe(0);
    expect(() => kernel.percentile(none, 101)).toThrow("percentile is 101");
  });

  test("sums are exact where plain addition is not", () => {
    expect(kernel.sum(Float64Array.of(1e16, ...new Array(20).fill(0.1), -1e16))).toBeCloseTo(2, 12);
    expect(kernel.sum(Float64Array.of(1, 1e100, 1, -1e100))).toBe(2);
    expect(kernel.sum(Float64Array.of(1e308, 1e308, -1e308))).toBe(1e308);
    expect(kernel.sum(Float64Array.of(1.7e308, 1.7e308))).toBe(INF);
    expect(kernel.sum(new Float64Array(3).fill(5e-324))).toBe(1.5e-323);
    expect(kernel.sum(Float64Array.of(-0, -0))).toBe(0);
    expect(kernel.sum(Float64Array.of(1, INF))).toBe(INF);
    expect(kernel.sum(Float64Array.of(-INF, INF))).toBeNaN();
    expect(kernel.sum(new Float32Array(10_000).fill(0.1))).toBe(1000.0000149011612);
    expect(kernel.sum(new Float32Array(10_000).fill(0.1), { compat: "numpy" })).toBe(Math.fround(1000.0001));
  });

  test("moments are exact under offsets, outliers and constant windows", () => {
    const offset = Float64Array.from({ length: 1000 }, (_, i) => 1e9 + [4, 7, 13, 16][i % 4]!);
    const { std, mean } = kernel.moments(offset);
    expect(Math.abs(std / 4.743416490252569 - 1)).toBeLessThan(1e-12);
    expect(mean).toBe(1e9 + 10);
    expect(kernel.moments(Float64Array.of(4, 7, 13, 16), { ddof: 1 }).variance).toBe(30);
    expect(kernel.moments(new Float64Array(100_000).fill(0.1))).toEqual({
      count: 100_000,
      mean: 0.1,
      variance: 0,
      std: 0,
      min: 0.1,
      max: 0.1,
    });
    expect(kernel.moments(Float64Array.of(0, -0))).toMatchObject({ min: -0, max: 0 });
    expect(kernel.moments(Float64Array.of(7), { ddof: 1 }).std).toBeNaN();
    expect(kernel.moments(Float64Array.of(1, INF))).toMatchObject({ mean: INF, variance: Number.NaN, max: INF });
    expect(kernel.moments(Float64Array.of(1e308, 1e308)).std).toBe(0);
  });

  test("NaN is rejected with its index, ignored, or propagated, as requested", () => {
    const values = Float32Array.of(1, Number.NaN, 3);
    expect(() => kernel.sum(values)).toThrow("values[1] is NaN");
    expect(kernel.sum(values, { nan: "ignore" })).toBe(4);
    expect(kernel.percentile(values, 50, { nan: "ignore" })).toBe(2);
    expect(kernel.moments(values, { nan: "ignore" })).toMatchObject({ count: 2, mean: 2, min: 1, max: 3 });
    expect(kernel.sum(values, { nan: "propagate" })).toBeNaN();
    expect(kernel.percentile(values, [0, 100], { nan: "propagate" })).toEqual([Number.NaN, Number.NaN]);
    expect(kernel.moments(values, { nan: "propagate" })).toMatchObject({ count: 3, mean: Number.NaN, min: Number.NaN });
    expect(kernel.percentile(Float32Array.of(Number.NaN), 50, { nan: "ignore" })).toBeNaN();
  });

  test("percentiles of a large column, one and several, agree with a sort", () => {
    const values = Float64Array.from({ length: 100_001 }, (_, i) => Math.exp(Math.sin(i * i) * 3));
    const sorted = values.slice().sort();
    const percents = [0, 1, 50, 99, 100];
    expect(kernel.percentile(values, percents)).toEqual(percents.map((p) => sorted[p * 1000]));
    for (const p of percents) expect(kernel.percentile(values, p)).toBe(sorted[p * 1000]);
  });

  test("trim supports both closed sides, an end, and times above 2^53", () => {
    const times = BigInt64Array.of(-1n, 3999n, 4000n, 4001n, 5000n, 5001n, 2n ** 60n);
    const values = Float32Array.of(1, 2, 3, 4, 5, 6, 7);
    for (const sorted of [true, false]) {
      const at = (...[cutoff, options]: [number | bigint, object?]) => [
        ...kernel.trim(times, values, cutoff, { sorted, ...options }).values,
      ];
      expect(at(4000, { until: 5000 })).toEqual([4, 5]);
      expect(at(4000.9, { until: 5000.9, closed: "both" })).toEqual([3, 4, 5]);
      expect(at(5000)).toEqual([6, 7]);
      expect(at(2n ** 60n - 1n)).toEqual([7]);
      expect(at(2n ** 80n)).toEqual([]);
      expect(at(-2)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    }
  });
});

test("invalid input is refused with a clear error", () => {
  const values = Float32Array.of(1, 2, 3);
  const times = BigInt64Array.of(1n, 2n);
  const bytes = new Uint8Array(13);
  // biome-ignore lint/suspicious/noExplicitAny: wrong on purpose
  const any = (x: unknown): any => x;
  const refused: [() => unknown, string, string][] = [
    [() => kernel.sum(bytes), "CORRUPT", "values ends in the middle of a value: 1 of 4 bytes at offset 12"],
    [() => kernel.sum(bytes, { type: "f64" }), "CORRUPT", "5 of 8 bytes at offset 8"],
    [() => kernel.trim(bytes, values, 0), "CORRUPT", "times ends in the middle of a value: 5 of 8 bytes at offset 8"],
    [() => kernel.trim(times, values, 0), "ARGUMENT", "values.length is 3; it must be 2, the number of times"],
    [() => kernel.trim(times, times as never, 0), "ARGUMENT", "values is a BigInt64Array"],
    [() => kernel.trim(any([1]), values, 0), "ARGUMENT", "times is an array"],
    [() => kernel.trim(times, values.subarray(1), Number.NaN), "ARGUMENT", "cutoff is NaN"],
    [() => kernel.trim(times, values.subarray(1), 0, { closed: any("left") }), "ARGUMENT", 'closed is "left"'],
    [() => kernel.sum(any([1, 2])), "ARGUMENT", "values is an array"],
    [() => kernel.sum(values, { type: "f64" }), "ARGUMENT", 'type is "f64"; it must be "f32", as values is'],
    [() => kernel.sum(bytes, { type: any("u8") }), "ARGUMENT", 'type is "u8"'],
    [() => kernel.sum(values, { nan: any("drop") }), "ARGUMENT", 'nan is "drop"'],
    [() => kernel.sum(values, { compat: any("r") }), "ARGUMENT", 'compat is "r"'],
    [() => kernel.moments(values, { ddof: -1 }), "ARGUMENT", "ddof is -1"],
    [() => kernel.percentile(values, -1), "ARGUMENT", "percentile is -1; it must be from 0 to 100 (percent)"],
    [() => kernel.percentile(values, any("50")), "ARGUMENT", 'percentile is "50"'],
    [() => kernel.percentile(values, 50, { method: any("best") }), "ARGUMENT", "one of inverted_cdf, averaged"],
  ];
  for (const [call, code, message] of refused)
    expect(call).toThrow(
      expect.objectContaining({ name: "OrielError", code, message: expect.stringContaining(message) }),
    );
});
