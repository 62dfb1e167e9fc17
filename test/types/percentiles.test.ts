// What TypeScript knows of the percentiles that were asked for, under its strictest flags.
import { expectTypeOf, test } from "vitest";
import type { LocalSeries, Series, WindowStats } from "../../src/entries/api.ts";
import type { kernel } from "../../src/kernel/api.ts";

declare const series: Series;
declare const local: LocalSeries;
declare const columns: typeof kernel;
declare const times: BigInt64Array;
declare const values: Float32Array;
declare const list: readonly number[];

/** Is never run: its types are what is checked. */
async function types() {
  const asked = await series.stats({ percentiles: [99, 99.9] });
  expectTypeOf(asked.percentiles[99]).toEqualTypeOf<number>();
  expectTypeOf(asked.percentiles[99.9]).toEqualTypeOf<number>();
  expectTypeOf((await series.stats({ span: "1m" })).percentiles[50]).toEqualTypeOf<number>();
  expectTypeOf((await series.recordAndGet(1, { percentiles: [95] })).percentiles[95]).toEqualTypeOf<number>();
  expectTypeOf(local.stats({ percentiles: [95] }).percentiles[95]).toEqualTypeOf<number>();
  expectTypeOf(columns.stats(times, values, 0, { percentiles: [95] }).percentiles[95]).toEqualTypeOf<number>();
  // Without names that are known, any number may be looked up, and may be missing.
  const general: WindowStats = await series.stats({ percentiles: list });
  expectTypeOf(general.percentiles).toExtend<Record<number, number>>();
  for (const p of list) expectTypeOf(asked.percentiles[p]).toExtend<number | undefined>();
}

test("the percentiles that were named are numbers", () => {
  expectTypeOf(types).toBeFunction();
});
