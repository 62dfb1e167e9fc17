import { describe, expect, test } from "vitest";
import { Series } from "../../../src/entries/index.ts";
import { holdingTimers } from "../../harness/clock/held-timers.ts";
import { repeatableStore } from "../../harness/repeatable-store.ts";
import { until } from "../../harness/until.ts";
import { expectStats, inside } from "../../stats/oracle.ts";
import { NAME, type Stage } from "./stage.ts";

/** With `maxAge` the processes of a series share their answers. */
export function sharedSuite(stage: () => Stage): void {
  /** A series of another process that keeps no copy, and the steps that it sends. An answer is published behind the call. */
  const another = (options: object = {}) => {
    const sent: string[] = [];
    const running: Promise<unknown>[] = [];
    const { store } = repeatableStore(stage().other);
    const watched = {
      ...store,
      run: ((operation, ...rest) => {
        sent.push(operation.name);
        const answer = store.run(operation, ...rest);
        running.push(answer);
        return answer;
      }) as typeof store.run,
    };
    const series = new Series(watched, NAME, {
      ...stage().modes,
      onStoreError: "throw",
      retention: "1m",
      values: "float64",
      ...options,
    });
    return { series, steps: () => sent.splice(0), answered: () => Promise.allSettled(running.splice(0)) };
  };

  describe("shared answers", () => {
    test("one process computes, and another one reads the answer, however it orders the options", async () => {
      const { open, put, clock, events } = stage();
      const series = open({ values: "float64" });
      await put(1, 2, 3, 4);
      clock.nowMs += 10;
      const first = another();
      const other = another();
      const asOfMs = clock.nowMs;
      const computed = await first.series.stats({ span: "30s", percentiles: [50, 99.5, 0], maxAge: 100 });
      expect(computed.asOfMs).toBe(asOfMs);
      await first.answered();
      await put(5);
      clock.nowMs += 90;
      first.steps();
      const read = await other.series.stats({ maxAge: 100, percentiles: [99.5, 0, 50, 0], span: 30_000 });
      expect(read).toEqual(computed);
      expectStats(read, inside(events.slice(0, 4), read.from, read.to, "right"), { percentiles: [0, 50, 99.5] });
      expect(other.steps()).toEqual(["series/ask"]);
      // Its own object, from what this process has.
      read.percentiles[50] = -1;
      expect(await other.series.stats({ maxAge: 100, percentiles: [99.5, 0, 50, 0], span: 30_000 })).toEqual(computed);
      expect(other.steps()).toEqual([]);
      expect(await other.series.stats({ maxAge: 100, percentiles: [50], span: 30_000 })).toMatchObject({ count: 5 });
      clock.nowMs += 11;
      const later = await first.series.stats({ span: "30s", percentiles: [50, 99.5, 0], maxAge: 100 });
      expect(later.count).toBe(5);
      expect(later.asOfMs).toBeGreaterThanOrEqual(clock.nowMs - 100);
      for (const one of [first.series, other.series, series]) await one.close();
    });

    test("a window that ends at a whole second is shared, and a late event is in it after the maximum age", async () => {
      const { open, put, clock } = stage();
      const series = open({ values: "float64" });
      await put(1, 2, 3, 4);
      const at = 1000 * Math.ceil((clock.nowMs + 1) / 1000);
      clock.nowMs = at + 2000;
      const [one, two] = [another(), another()];
      const query = { span: 30_000, at, percentiles: [50], maxAge: 100 };
      const computed = await one.series.stats(query);
      expect(computed).toMatchObject({ count: 4, from: at - 30_000, to: at, asOfMs: clock.nowMs });
      await one.answered();
      await series.record(5, { at: at - 1 });
      await series.record(6, { at: at + 1 });
      clock.nowMs += 90;
      expect(await two.series.stats(query)).toEqual(computed);
      expect(two.steps()).toEqual(["series/ask"]);
      // Another end is another question.
      expect((await two.series.stats({ ...query, at: at + 1000 })).count).toBe(6);
      expect((await two.series.stats({ ...query, at: undefined })).count).toBe(6);
      clock.nowMs += 11;
      expect((await two.series.stats(query)).count).toBe(5);
      for (const each of [one.series, two.series, series]) await each.close();
    });

    test("a window with another end is not shared", async () => {
      const { open, put, clock } = stage();
      const series = open({ values: "float64" });
      await put(1, 2);
      const one = another();
      const at = 1000 * Math.floor(clock.nowMs / 1000) + 1;
      await one.series.stats({ at, percentiles: [], maxAge: 100 });
      expect(one.steps()).not.toContain("series/ask");
      for (const each of [one.series, series]) await each.close();
    });

    test("an answer with many percentiles is shared, up to 128 of them", async () => {
      const { open, put } = stage();
      const series = open({ values: "float64" });
      await put(1, 2, 3, 4);
      const [one, two] = [another(), another()];
      const percentiles = Array.from({ length: 128 }, (_, i) => (i * 100) / 128);
      const computed = await one.series.stats({ percentiles, maxAge: 1000 });
      await one.answered();
      expect(await two.series.stats({ percentiles: [...percentiles].reverse(), maxAge: 1000 })).toEqual(computed);
      expect(two.steps()).toEqual(["series/ask"]);
      await two.series.stats({ percentiles: [...percentiles, 100], maxAge: 1000 });
      expect(two.steps()).not.toContain("series/ask");
      for (const each of [one.series, two.series, series]) await each.close();
    });

    test("every number arrives as it was computed", async () => {
      const { open, put } = stage();
      const windows: number[][] = [[], [0.1], [-0, 5e-324, 1e308], [Number.POSITIVE_INFINITY, -1], [Number.NaN, 1]];
      for (const values of windows) {
        await stage().clear();
        const series = open({ values: "float64", nan: "propagate" });
        if (values.length > 0) await put(...values);
        for (const span of [10_000, 60_000]) {
          const [one, two] = [another({ nan: "propagate" }), another({ nan: "propagate" })];
          const computed = await one.series.stats({ span, maxAge: "1s" });
          await one.answered();
          expect(await two.series.stats({ span, maxAge: "1s" })).toEqual(computed);
          expect(two.steps()).toEqual(["series/ask"]);
          const { asOfMs, ...own } = computed;
          expect(own).toEqual(await another({ nan: "propagate" }).series.stats({ span }));
        }
        await series.close();
      }
    });

    test("processes with other settings do not share", async () => {
      const { open, put } = stage();
      open({ values: "float64", nan: "propagate" });
      await put(Number.NaN, 1);
      expect((await another({ nan: "propagate" }).series.stats({ maxAge: "1s" })).count).toBe(2);
      expect((await another({ nan: "ignore" }).series.stats({ maxAge: "1s" })).count).toBe(1);
      await expect(another({ values: "float32" }).series.stats({ maxAge: "1s" })).rejects.toMatchObject({
        code: "MISMATCH",
      });
    });

    test("a renewed answer has the percentiles that were asked, whatever becomes of the caller's array", async () => {
      const { open, put, clock } = stage();
      open({ values: "float64" });
      await put(1, 2, 3);
      const [one, two] = [another(), another()];
      const percentiles = [50];
      // The renewal does not begin before another process has asked, without which there would be none.
      await holdingTimers(20, async () => {
        await one.series.stats({ percentiles, maxAge: 40 });
        percentiles[0] = 99;
        await two.series.stats({ percentiles: [50], maxAge: 40 });
        one.steps();
      });
      clock.nowMs += 1;
      await until("it is renewed", async () => one.steps().includes("series/publish"));
      expect((await another().series.stats({ percentiles: [50], maxAge: "1h" })).percentiles).toEqual({ 50: 2 });
      for (const { series } of [one, two]) await series.close();
    });

    test("who deletes sees it at once", async () => {
      const { open, put, clock } = stage();
      open({ values: "float64" });
      await put(1, 2);
      const { series } = another();
      expect((await series.stats({ maxAge: "1h" })).count).toBe(2);
      await series.delete();
      expect((await series.stats({ maxAge: "1h" })).count).toBe(0);
      clock.nowMs += 5000;
      expect((await series.stats({ maxAge: "1h" })).count).toBe(0);
    });

    test("an answer leaves a key for twice its age", async () => {
      const { open, put, clock, keys, expiryOf } = stage();
      open({ values: "float64" });
      await put(1, 2);
      await another().series.stats({ maxAge: "1s" });
      const answers = (await keys()).filter((key) => key.includes(":answer:"));
      expect(answers).toEqual([`oriel:{${NAME}}:answer:float64:server:nan:60000:right:linear:0:50,90,99`]);
      await another().series.stats({ maxAge: "1s", at: 5000 });
      expect(await keys()).toContain(`${answers[0]}:5000`);
      expect(await expiryOf(answers[0]!)).toBeLessThanOrEqual(clock.nowMs + 2001);
    });
  });
}
