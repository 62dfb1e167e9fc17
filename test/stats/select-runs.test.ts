import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Column } from "../../src/engine/kernel/contract.ts";
import { ColumnRun, lowerBound, upperBound } from "../../src/engine/stats/runs/run.ts";
import { selectInRuns } from "../../src/engine/stats/runs/select-runs.ts";

const ascending = (a: number, b: number) => a - b;
/** Zeros of either sign are one value to an order. */
const unsigned = (value: number) => value + 0;

const value = fc.oneof(
  fc.constantFrom(0, -0, 1, 2, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324, -1.7e308, 1.7e308),
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true }),
);

function runOf(values: Column): ColumnRun {
  return Object.assign(new ColumnRun(values.sort()), { length: values.length });
}

function expectEveryRank(lists: number[][], ranks?: number[]) {
  const runs = lists.map((list) => runOf(Float64Array.from(list)));
  const all = lists.flat().sort(ascending);
  for (const k of ranks ?? all.keys()) {
    const expected = [all[k]!, all[Math.min(k + 1, all.length - 1)]!];
    const found = selectInRuns(runs, k);
    expect(found.map(unsigned), `rank ${k} of ${all.length}`).toEqual(expected.map(unsigned));
  }
}

describe("select among sorted runs", () => {
  test("finds every rank and its successor in any runs", () => {
    fc.assert(
      fc.property(fc.array(fc.array(value, { maxLength: 60 }), { maxLength: 9 }), (lists) => expectEveryRank(lists)),
      { numRuns: 150 },
    );
  });

  test("finds every rank among more values than it gathers", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(value, { minLength: 30, maxLength: 200 }), { minLength: 2, maxLength: 6 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 20, maxLength: 20 }),
        (lists, shares) => {
          const total = lists.flat().length;
          expectEveryRank(
            lists,
            shares.map((share) => Math.floor(share * total)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each([
    ["two values", (i: number) => i % 2],
    ["all equal", () => 7],
    ["one outlier", (i: number) => (i === 500 ? 1e300 : 1)],
    ["ascending", (i: number) => i],
    ["organ pipe", (i: number) => Math.min(i, 1000 - i)],
    ["exponential", (i: number) => 2 ** (i - 500)],
    ["halving gaps", (i: number) => 1 - 2 ** -Math.min(52, i / 4)],
  ])("is not slowed down by %s in equal, nested and lopsided runs", (_name, valueAt) => {
    const values = Array.from({ length: 1000 }, (_, i) => valueAt(i));
    for (const lists of [
      [values],
      [values, values, values],
      Array.from({ length: 10 }, (_, r) => values.filter((_value, i) => i % 10 === r)),
      Array.from({ length: 10 }, (_, r) => values.slice(r * 100, r * 100 + 100)),
      [values.slice(0, 990), values.slice(990), [], values.slice(0, 1)],
    ]) {
      const total = lists.flat().length;
      expectEveryRank(lists, [0, 1, 2, total >> 2, (total >> 1) - 1, total >> 1, total - 2, total - 1]);
    }
  });

  test("accepts f32 and f64 runs together", () => {
    const runs = [Float32Array.of(0.1, 0.5), Float64Array.of(0.1, 0.3)].map(runOf);
    expect([0, 1, 2, 3].map((k) => selectInRuns(runs, k)[0])).toEqual([0.1, Math.fround(0.1), 0.3, 0.5]);
  });
});

test("lower and upper bounds equal those of a scan", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 50 }), value, fc.nat(50), fc.nat(50), (list, limit, a, b) => {
      const sorted = Float64Array.from(list).sort();
      const [from, to] = [a, b].map((each) => Math.min(each, sorted.length)).sort(ascending) as [number, number];
      const stretch = [...sorted].slice(from, to);
      expect(lowerBound(sorted, limit, from, to)).toBe(from + stretch.filter((each) => each < limit).length);
      expect(upperBound(sorted, limit, from, to)).toBe(from + stretch.filter((each) => each <= limit).length);
    }),
  );
});
