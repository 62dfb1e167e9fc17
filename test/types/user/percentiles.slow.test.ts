// `percentiles` has exactly the numbers that were asked for.
import { expect, expectTypeOf, test } from "vitest";
import { kernel, LocalSeries, type Series, type WindowStats } from "../../../src/entries/index.ts";

const local = new LocalSeries({ clock: () => 0 });
for (const value of [1, 2, 3]) local.record(value);

test("the requested percentiles are numbers, and others do not exist", () => {
  const { percentiles } = local.stats({ percentiles: [50, 99.9] });
  expectTypeOf(percentiles).toEqualTypeOf<Record<50 | 99.9, number>>();
  expect(percentiles[50]).toBe(2);
  // @ts-expect-error: it was not asked for
  expect(percentiles[99]).toBeUndefined();
});

test("without a list they are 50, 90 and 99", () => {
  const { percentiles } = local.stats({ span: "1m" });
  expectTypeOf(percentiles).toEqualTypeOf<Record<50 | 90 | 99, number>>();
  expect(Object.keys(percentiles)).toEqual(["50", "90", "99"]);
});

test("a percentile of a list that is known only at run time may be missing", () => {
  const list: number[] = [50, 90];
  const general: WindowStats = local.stats({ percentiles: list });
  expectTypeOf(general.percentiles).toEqualTypeOf<Record<number, number>>();
  for (const p of list) expectTypeOf(general.percentiles[p]).toExtend<number | undefined>();
  const asked: WindowStats = local.stats({ percentiles: [50] });
  expect(asked.percentiles[50]).toBe(2);
});

test("a list can be a constant of the program", () => {
  const LIST = [50, 99] as const;
  const { percentiles } = local.stats({ percentiles: LIST });
  for (const p of LIST) expectTypeOf(percentiles[p]).toEqualTypeOf<number>();
  expect(percentiles[99]).toBeCloseTo(2.98);
});

test("series and columns have the same types", () => {
  const calls = async (series: Series, times: BigInt64Array, values: Float32Array) => {
    const stats = await series.stats({ percentiles: [50, 99] });
    expectTypeOf(stats.percentiles).toEqualTypeOf<Record<50 | 99, number>>();
    const recorded = await series.recordAndGet(1, { percentiles: [95] });
    expectTypeOf(recorded.percentiles).toEqualTypeOf<Record<95, number>>();
    const columns = kernel.stats(times, values, 0, { percentiles: [95] });
    expectTypeOf(columns.percentiles).toEqualTypeOf<Record<95, number>>();
  };
  expectTypeOf(calls).toBeFunction();
});
