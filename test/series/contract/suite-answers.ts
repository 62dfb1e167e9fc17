import { describe, expect, test } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { METHODS } from "../../../src/engine/kernel/percentile/percentile.ts";
import { Series } from "../../../src/entries/index.ts";
import { expectHistogram, expectRanks } from "../../stats/distribution-oracle.ts";
import { expectStats, inside } from "../../stats/oracle.ts";
import { expectTimeline, statsRow, timelineRow } from "../../stats/timeline-oracle.ts";
import { expectExpiries, expectGuardOnly, NAME, type Stage } from "./stage.ts";

/** A sequence that looks random and is the same each time. */
function noise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function answersSuite(stage: () => Stage): void {
  describe("answers", () => {
    test("recordAndGet records one event and answers", async () => {
      const { open, put, check } = stage();
      open();
      await put(12.5);
      await check({ span: "1s", percentiles: [0, 50, 100] });
    });

    test("an empty series has count 0, sum 0, and NaN for the rest", async () => {
      const { open, check, clock } = stage();
      const series = open({ values: "float32" });
      await check({ span: "10s" });
      expect(await series.stats({ span: "10s", percentiles: [1] })).toEqual({
        ...{
          count: 0,
          sum: 0,
          mean: Number.NaN,
          min: Number.NaN,
          max: Number.NaN,
          variance: Number.NaN,
          std: Number.NaN,
          percentiles: { 1: Number.NaN },
        },
        ...{ from: clock.nowMs - 10_000, to: clock.nowMs, degraded: false },
      });
      expect(await series.values()).toEqual(new Float32Array(0));
      expect(await series.fractionBelow(1)).toBeNaN();
    });

    test("one series answers any span up to the retention, with either closed side", async () => {
      const { open, reader, put, check, clock } = stage();
      open();
      const random = noise(1);
      for (let i = 0; i < 120; i++) {
        await put(...Array.from({ length: 1 + (i % 5) }, () => random() * 100));
        clock.nowMs += [0, 1, 250, 999, 1500][i % 5]!;
      }
      const cold = reader();
      for (const closed of ["right", "both"] as const)
        for (const span of [1, 250, 999, 1000, 1001, "10s", 45_000, "1m"] as const)
          for (const series of [undefined, cold])
            await check({ span, closed, percentiles: [0, 12.5, 50, 99, 100] }, series);
    });

    test("a copy updated by deltas matches brute force at every step", async () => {
      const { open, reader, put, check, clock } = stage();
      open({ retention: "5s", values: "float64" });
      const random = noise(2);
      const resident = reader();
      for (let i = 0; i < 60; i++) {
        await put(...Array.from({ length: 1 + Math.floor(random() * 40) }, () => random() ** -2));
        clock.nowMs += Math.floor(random() * 700);
        const span = 1 + Math.floor(random() * 5000);
        await check({ span });
        if (i % 3 === 0) await check({ span: 5001 - span }, resident);
        if (i % 20 === 0) await expectExpiries(stage(), 5000);
      }
      await check({}, reader());
      await check({}, resident);
    });

    test("recordMany takes any array of numbers, keeps its order, and gives all values one time", async () => {
      const { open, reader } = stage();
      const series = open({ values: "float64" });
      await series.recordMany([3, 1, 2]);
      await series.recordMany(Float32Array.of(0.1));
      await series.recordMany(Int16Array.of(-7));
      await series.recordMany([]);
      const values = await reader().values();
      expect(values).toEqual(Float64Array.of(3, 1, 2, Math.fround(0.1), -7));
      values[0] = 99;
      expect((await series.values())[0]).toBe(3);
    });

    test("float32 rounds stored values, float64 does not", async () => {
      const { open, reader, store, events } = stage();
      const single = open({ values: "float32" });
      const double = new Series(store, `${NAME}:double`, { values: "float64" });
      await Promise.all([single.record(0.1), double.record(0.1)]);
      expect(await reader().values()).toEqual(Float32Array.of(0.1));
      expect(await double.values()).toEqual(Float64Array.of(0.1));
      expect((await single.stats()).sum).toBe(Math.fround(0.1));
      expect((await double.stats()).sum).toBe(0.1);
      expect(events).toEqual([]);
    });

    test("recordAndGet includes its own event, also among concurrent calls", async () => {
      const { open, reader } = stage();
      const writers = [open({ values: "float32" }), reader(), reader()];
      const calls = Array.from({ length: 90 }, (_, i) => ({ i, series: writers[i % 3]! }));
      const answers = await Promise.all(
        calls.map(async ({ i, series }) => ({ i, stats: await series.recordAndGet(i, { percentiles: [0, 100] }) })),
      );
      for (const { i, stats } of answers) {
        expect(stats.min).toBeLessThanOrEqual(i);
        expect(stats.max).toBeGreaterThanOrEqual(i);
      }
      expect(Math.max(...answers.map(({ stats }) => stats.count))).toBe(90);
      expect((await reader().values()).sort()).toEqual(Float32Array.from({ length: 90 }, (_, i) => i));
    });

    test("a caller may change its answer without an effect on others", async () => {
      const series = stage().open();
      await series.record(1);
      const [one, two] = await Promise.all([series.stats(), series.stats()]);
      one.percentiles[50] = 77;
      one.count = 77;
      expect(two.count).toBe(1);
      expect(two.percentiles[50]).toBe(1);
    });

    test("fractionBelow is the exact share below a limit", async () => {
      const { open, put } = stage();
      const series = open({ values: "float64" });
      await put(0.1, 0.2, 0.2, 0.3, 1e9, -5);
      for (const [limit, below] of [
        [0.2, 2],
        [0.20000000000000004, 4],
        [-5, 0],
        [-4.999, 1],
        [Number.POSITIVE_INFINITY, 6],
        [Number.NEGATIVE_INFINITY, 0],
      ] as const)
        expect(await series.fractionBelow(limit, { span: "1s" })).toBe(below / 6);
    });

    test("a histogram, ranks and a comparison are those of the values, one by one", async () => {
      const { open, reader, put, clock, events } = stage();
      open({ values: "float64" });
      for (let i = 0; i < 30; i++) {
        await put(i * 3.75, -i);
        clock.nowMs += i % 4 === 3 ? 2600 : 90;
      }
      const bounds = [-29, -3.5, 0, 7.5, 60];
      const numbers = [60, 7.5, 7.5, -100, Number.POSITIVE_INFINITY];
      for (const one of [stage().series, reader()])
        for (const { at, ...window } of [
          { span: 10_000, at: undefined, closed: "right" },
          { span: 5000, at: clock.nowMs - 777, closed: "both" },
        ] as const) {
          const toMs = at ?? clock.nowMs;
          const valuesUntil = (endMs: number) => inside(events, endMs - window.span, endMs, window.closed);
          const header = { from: toMs - window.span, to: toMs, degraded: false };
          expectHistogram(await one.histogram({ ...window, at, bounds }), valuesUntil(toMs), bounds, header);
          expectRanks(await one.ranks(numbers, { ...window, at }), valuesUntil(toMs), numbers, header);
          const percentiles = [1, 50, 99] as const;
          const { current, earlier, shifts } = await one.compare({ ...window, at, before: 8000, percentiles });
          expect([current.to, earlier.to]).toEqual([toMs, toMs - 8000]);
          expectStats(current, valuesUntil(toMs), { percentiles });
          expectStats(earlier, valuesUntil(toMs - 8000), { percentiles });
          for (const p of percentiles) expect(shifts[p]).toBe(current.percentiles[p] - earlier.percentiles[p]);
        }
    });

    test("a float32 series compares its values with a limit that float32 cannot represent", async () => {
      const { open } = stage();
      const series = open({ values: "float32" });
      await series.recordMany([0.1, 0.3]);
      expect(await series.fractionBelow(0.1)).toBe(0);
      expect(await series.fractionBelow(Math.fround(0.1) + 1e-12)).toBe(0.5);
      expect(await series.fractionBelow(0.3)).toBe(0.5);
      expect(await series.fractionBelow(Math.fround(0.3))).toBe(0.5);
      expect(await series.fractionBelow(0.300000012)).toBe(1);
    });

    test("several series are answered as one", async () => {
      const { open, put, store, events, clock } = stage();
      const [b, c] = ["b", "c"].map((name) => new Series(store, name, { retention: "2m", values: "float64" }));
      open();
      for (let i = 0; i < 30; i++) {
        await put(i * 3.7);
        await b!.record(i * -0.1);
        events.push({ t: clock.nowMs, value: i * -0.1 });
        clock.nowMs += 500;
      }
      const both = [stage().series, b!, c!];
      for (const span of [1, 5000, 60_000]) {
        const answer = await Series.stats(both, { span, percentiles: [1, 50, 99] });
        expect(answer).toMatchObject({ from: clock.nowMs - span, to: clock.nowMs, degraded: false });
        expectStats(answer, inside(events, answer.from, answer.to), { percentiles: [1, 50, 99] });
      }
      expect((await Series.stats([c!], {})).count).toBe(0);
    });

    test("the buckets of a timeline are those of stats alone, of one series and of several", async () => {
      const { open, reader, put, store, clock, events } = stage();
      const c = new Series(store, "c", { retention: "2m", values: "float64" });
      open({ values: "float64" });
      for (let i = 0; i < 30; i++) {
        await put(i * 3.7, -i);
        await c.record(i * 0.1);
        clock.nowMs += i % 4 === 3 ? 2600 : 90;
      }
      const others = [stage().series, reader()];
      for (const options of [
        { span: 10_000, every: 1000 },
        { span: 10_500, every: 1000, align: "every" },
        { span: 15_000, every: 2500, window: 5000, closed: "both", at: clock.nowMs - 777 },
      ] as const)
        for (const one of others) {
          const asked = { percentiles: [1, 50, 99], closed: options.closed ?? "right" } as const;
          const lines = [
            await one.timeline({ ...options, ...asked }),
            await Series.timeline([one, c], { ...options, ...asked }),
          ];
          for (const [which, line] of lines.entries()) {
            expectTimeline(line, options, options.at ?? clock.nowMs);
            for (const [i, at] of line.ends.entries()) {
              const window = { ...asked, at, span: at - line.times[i]! };
              const alone = which === 0 ? await one.stats(window) : await Series.stats([one, c], window);
              expect(timelineRow(line, i)).toEqual(statsRow(alone));
              if (which === 0) expectStats(alone, inside(events, alone.from, at, asked.closed), asked);
            }
          }
        }
      expect((await c.timeline({ span: 1, every: 1 })).counts).toEqual(Float64Array.of(0));
    });

    test("the days of a time zone are buckets", async () => {
      const { open, reader, put, events, clock } = stage();
      open({ retention: "7d" });
      for (let i = 0; i < 12; i++) {
        await put(i, 0.5 * i);
        clock.nowMs += 41_000_000;
      }
      const one = reader();
      const days = await one.timeline({ span: "5d", every: "1d", timeZone: "Asia/Kolkata", percentiles: [50] });
      expect(days.counts.length).toBe(6);
      const localTime = new Intl.DateTimeFormat("sv-SE", { timeZone: "Asia/Kolkata", timeStyle: "medium" });
      for (const beginMs of days.times.subarray(1)) expect(localTime.format(beginMs)).toBe("00:00:00");
      for (const [i, at] of days.ends.entries()) {
        const alone = await one.stats({ at, span: at - days.times[i]!, percentiles: [50] });
        expect(timelineRow(days, i)).toEqual(statsRow(alone));
        expectStats(alone, inside(events, alone.from, at), { percentiles: [50] });
      }
    });

    test("a deleted series is empty for all processes, and recording continues", async () => {
      const { open, reader, put, check, events, clock, keys } = stage();
      open({ retention: "1s" });
      const other = reader();
      for (let i = 0; i < 8; i++) {
        await put(i, i + 0.5);
        clock.nowMs += 600;
      }
      await check({}, other);
      await stage().series.delete();
      await expectGuardOnly(stage());
      clock.nowMs += 1;
      events.length = 0;
      await check({});
      await check({}, other);
      await put(42);
      await check({}, other);
      await check({});
      await other.delete();
      await other.delete();
      await expectGuardOnly(stage());
      clock.nowMs += constants.dedupeMs + constants.expirySlackMs + 1;
      expect(await keys()).toEqual([]);
    });

    test("percentiles follow the chosen method", async () => {
      const { open, put, check } = stage();
      open({ values: "float64" });
      await put(15, 20, 35, 40, 50, -1.5, 20, 1e6);
      for (const method of METHODS) await check({ method, percentiles: [0, 12.5, 25, 40, 50, 62.5, 99, 100] });
    });

    test("variance divides by count - ddof, and is NaN if that is not positive", async () => {
      const { open, put, check } = stage();
      const series = open();
      await put(1, 2, 4);
      for (const ddof of [0, 1, 2, 3, 4]) await check({ ddof });
      expect((await series.stats({ ddof: 1 })).variance).toBeCloseTo(7 / 3, 14);
      expect((await series.stats({ ddof: 3 })).std).toBeNaN();
    });
  });
}
