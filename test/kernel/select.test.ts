// Selection against data made to mislead it: the answer stays right, and the time linear.
import { afterEach, describe, expect, test, vi } from "vitest";
import { BUILDS } from "./builds.ts";

const N = 100_001;
const MEDIAN = (N - 1) / 2;

/** Where selection of the median of `n` values draws its sample (the sequence of src/engine/kernel/passes/select.ts). */
function samplePlaces(n: number): number[] {
  const size = Math.floor((n / 4) ** (2 / 3));
  let random = 1;
  return Array.from({ length: size }, (_, i) => {
    random = (Math.imul(1664525, random) + 1013904223) >>> 0;
    return Math.floor(((i + random * 2 ** -32) * n) / size);
  });
}

afterEach(() => vi.restoreAllMocks());

describe.each(BUILDS.map((kernel) => [kernel.name, kernel] as const))("%s", (_name, kernel) => {
  test.each([
    ["the sample sees one value only", (i: number) => (i * 7919) % N, () => -1],
    ["the sample sees the low end only", (i: number) => 1e6 + i, (i: number) => i],
    ["the sample sees the high end only", (i: number) => -1e6 - i, (i: number) => i],
  ])("%s", (_title, unseen, seen) => {
    const column = Float64Array.from({ length: N }, (_, i) => unseen(i));
    for (const place of samplePlaces(N)) column[place] = seen(place);
    const sorted = column.slice().sort();
    expect(kernel.select(column, MEDIAN)).toEqual([sorted[MEDIAN], sorted[MEDIAN + 1]]);
    // A second sample led astray too leaves the radix selection from all.
    vi.spyOn(Math, "random").mockReturnValue(2 ** -32);
    for (const Type of [Float32Array, Float64Array])
      for (const values of [new Type(column), new Type(column).map((x) => (x < 0 ? x : x / 1e9 - 1e-4))]) {
        const known = values.slice().sort();
        expect(kernel.select(values, MEDIAN)).toEqual([known[MEDIAN], known[MEDIAN + 1]]);
      }
  });

  test("several ranks share one copy, and a NaN anywhere is reported", () => {
    const column = Float32Array.from({ length: 50_000 }, (_, i) => Math.sin(i) * 100);
    const sorted = column.slice().sort();
    for (const ranks of [[], [0], [25_000, 49_500], [1, 2, 49_998], [0, 10, 100, 1000, 49_999]])
      expect(kernel.selectMany(column, ranks)).toEqual(ranks.map((k) => [sorted[k], sorted[Math.min(k + 1, 49_999)]]));
    for (const place of [0, 1, 4096, 31_337, 49_998, 49_999]) {
      const pierced = column.slice();
      pierced[place] = Number.NaN;
      for (const ranks of [[25_000], [0, 49_999], [1, 2, 3, 4]]) expect(kernel.selectMany(pierced, ranks)).toBe(null);
    }
    expect(kernel.selectMany(Float64Array.of(1, Number.NaN), [0])).toBe(null);
  });

  test.each([
    ["sorted blocks of 1000", (i: number) => (i % 1000) + i / 1e6],
    ["a period of the sample's stride", (i: number) => i % 118],
    ["median-of-3 killer", (i: number) => (i % 2 === 0 ? i / 2 : N - i)],
    ["two neighbours, with nothing between them", (i: number) => (i % 3 === 0 ? 1 : 1 + 2 ** -23)],
    ["17 values", (i: number) => (i * 7919) % 17],
    ["both zeros", (i: number) => (i % 3 === 0 ? -0 : i % 3 === 1 ? 0 : i - MEDIAN)],
  ])("%s", (_title, make) => {
    for (const Type of [Float32Array, Float64Array]) {
      const column = new Type(Array.from({ length: N }, (_, i) => make(i)));
      const sorted = column.slice().sort();
      for (const k of [0, 1, 1000, MEDIAN - 1, MEDIAN, 66_666, 99_000, N - 2, N - 1])
        expect(kernel.select(column, k), `k=${k}`).toStrictEqual([sorted[k], sorted[Math.min(k + 1, N - 1)]]);
    }
  });
});
