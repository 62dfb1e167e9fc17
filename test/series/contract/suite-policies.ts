import { describe, expect, test } from "vitest";
import { expectError, type Stage } from "./stage.ts";

const INFINITE = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** NaN and infinities, under each policy. */
export function policySuite(stage: () => Stage): void {
  describe("NaN and infinities", () => {
    test("reject refuses values that are not finite as stored, and writes nothing", async () => {
      const { open, keys } = stage();
      const series = open({ values: "float32" });
      for (const value of [Number.NaN, ...INFINITE, 1e39, -3.5e38]) {
        await expectError(series.record(value), "ARGUMENT", /value is /);
        await expectError(series.recordAndGet(value), "ARGUMENT", /value is /);
        await expectError(series.recordMany([1, value]), "ARGUMENT", /values\[1\] is /);
      }
      expect(await keys()).toEqual([]);
    });

    test("ignore leaves NaN out of every statistic", async () => {
      const { open, put, check, clock } = stage();
      const series = open({ nan: "ignore" });
      await put(1, Number.NaN, 5, Number.NaN);
      await check();
      expect(await series.stats()).toMatchObject({ count: 2, sum: 6, min: 1, max: 5 });
      expect(await series.fractionBelow(5)).toBe(0.5);
      expect(await series.values()).toHaveLength(4);
      clock.nowMs += 1000;
      await put(Number.NaN);
      await check({ span: "1s" });
      expect(await series.stats({ span: "1s" })).toMatchObject({ count: 0, sum: 0, mean: Number.NaN });
    });

    test("propagate returns NaN exactly while one is inside", async () => {
      const { open, put, check, clock } = stage();
      const series = open({ nan: "propagate" });
      await put(1, 2);
      clock.nowMs += 100;
      await put(Number.NaN);
      clock.nowMs += 100;
      await put(4);
      await check({ span: 1000 });
      expect(await series.stats({ span: 1000 })).toMatchObject({ count: 4, sum: Number.NaN, max: Number.NaN });
      expect(await series.fractionBelow(3)).toBeNaN();
      await check({ span: 100 });
      expect(await series.stats({ span: 100 })).toMatchObject({ count: 1, sum: 4, max: 4 });
    });

    test("infinities enter and leave without a trace", async () => {
      const { open, put, check, clock } = stage();
      const series = open({ nan: "propagate", values: "float64" });
      for (const value of [1, Number.POSITIVE_INFINITY, 2, Number.NEGATIVE_INFINITY, 3, 4]) {
        await put(value);
        for (const span of [1, 100, 101, 200, 201, 301, 401, 501]) await check({ span, percentiles: [0, 50, 100] });
        clock.nowMs += 100;
      }
      const answer = await series.stats({ span: 201 });
      expect(answer).toMatchObject({ count: 2, sum: 7, mean: 3.5, variance: 0.25, min: 3, max: 4 });
    });

    test("all payloads and signs of NaN are the same NaN", async () => {
      const { open, reader } = stage();
      const series = open({ nan: "ignore", values: "float64" });
      const odd = new BigUint64Array([0xfff8_0000_0000_0001n, 0x7ff0_0000_0000_0001n, 0xffff_ffff_ffff_ffffn]);
      await series.recordMany(new Float64Array(odd.buffer));
      await series.record(3);
      for (const one of [series, reader()])
        expect(await one.stats({ percentiles: [0, 100] })).toMatchObject({
          ...{ count: 1, sum: 3, min: 3, max: 3, percentiles: { 0: 3, 100: 3 } },
        });
    });

    test("the policy is that of the reader: one refuses a value that another leaves out", async () => {
      const { open, reader } = stage();
      await open({ nan: "ignore" }).recordMany([1, Number.NaN]);
      expect((await reader({ nan: "ignore" }).stats()).count).toBe(1);
      expect((await reader({ nan: "propagate" }).stats()).sum).toBeNaN();
      expect((await reader({ nan: "reject" }).stats()).sum).toBeNaN();
    });
  });
}
