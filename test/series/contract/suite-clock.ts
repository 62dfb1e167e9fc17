import { describe, expect, test } from "vitest";
import { chunkMsOf } from "../../../src/engine/journal/format/chunk.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { expectError, expectExpiries, NAME, type Stage } from "./stage.ts";

/** Windows that slide, chunks that close and expire, event time and clocks that step. */
export function clockSuite(stage: () => Stage): void {
  const closedKeys = async () => (await stage().keys()).filter((key) => key.includes("}:"));

  describe("time", () => {
    test("an event at the window's start is outside with closed right, and inside with closed both", async () => {
      const { open, put, check, clock } = stage();
      const series = open();
      await put(7);
      clock.nowMs += 999;
      expect((await series.stats({ span: 1000 })).count).toBe(1);
      clock.nowMs += 1;
      expect((await series.stats({ span: 1000 })).count).toBe(0);
      expect((await series.stats({ span: 1000, closed: "both" })).count).toBe(1);
      clock.nowMs += 1;
      expect((await series.stats({ span: 1000, closed: "both" })).count).toBe(0);
      await check({ span: 1001, closed: "both" });
    });

    test("an event with its own time counts once the time of the series has reached it", async () => {
      const { open, check, events, clock, reader } = stage();
      const series = open();
      const ats = [-59_000, -10_000, -1, 0, 1, 30_000, 60_000];
      await series.recordMany(ats, { at: ats.map((ms) => clock.nowMs + ms + 0.75) });
      await series.record(3, { at: new Date(clock.nowMs - 5) });
      events.push(...ats.map((ms) => ({ t: clock.nowMs + ms, value: ms })), { t: clock.nowMs - 5, value: 3 });
      for (const stepMs of [0, 1, 29_999, 30_000]) {
        clock.nowMs += stepMs;
        for (const span of [1, 1000, 59_000, 60_000]) await check({ span });
        await check({ closed: "both" }, reader());
      }
    });

    test("a window may end in the past, and is degraded if it begins before the oldest kept event", async () => {
      const { open, put, check, clock } = stage();
      const series = open({ retention: "10s" });
      const begunMs = clock.nowMs;
      for (let i = 0; i < 12; i++) {
        await put(i);
        clock.nowMs += 1000;
      }
      await check({ span: "3s", at: begunMs + 6000 });
      expect(await series.stats({ span: "3s", at: begunMs + 6000 })).toMatchObject({ count: 3, degraded: false });
      const asked = { span: "3s", at: new Date(begunMs + 4000) } as const;
      expect(await series.stats(asked)).toMatchObject({ degraded: true, degradedBy: "retention" });
    });

    test("on the event clock the time is the largest own time, and each event needs one", async () => {
      const { open, reader, check, events, clock } = stage();
      const series = open({ clock: "event" });
      const dayMs = 86_400_000;
      const firstMs = clock.nowMs - 400 * dayMs;
      for (const [i, ms] of [0, 5000, 1000, 59_999, 4000, 60_000].entries()) {
        await series.record(i, { at: firstMs + ms });
        events.push({ t: firstMs + ms, value: i });
        const now = Math.max(...events.map(({ t }) => t));
        clock.nowMs += 700;
        for (const span of [1, 1000, 2000, 60_000]) await check({ span, now });
        await check({ now }, reader());
      }
      await expectError(series.record(1), "ARGUMENT", /at is undefined/);
      await expectError(series.recordMany([1]), "ARGUMENT", /at is undefined/);
      await expectError(series.recordAndGet(1), "ARGUMENT", /at is undefined/);
      const late = new RegExp(`at is ${firstMs - 1} \\(\\d{4}-.*Z\\), which is older than the retention`);
      await expectError(series.record(1, { at: firstMs - 1 }), "LATE", late);
      await expectError(series.record(1, { at: 1_763_901_234 }), "LATE", /in ms since 1970; this looks like seconds/);
      await series.record(9, { at: firstMs });
      await expectError(series.record(1, { at: clock.nowMs + constants.earlyMs + 1 }), "EARLY", /ahead of the server/);
      expect((await series.stats({ closed: "both" })).count).toBe(7);
    });

    test("chunks are closed by age, and no window changes", async () => {
      const { open, reader, put, check, clock } = stage();
      open({ retention: "64s" });
      const early = reader();
      for (let i = 0; i < 40; i++) {
        await put(i);
        clock.nowMs += 400;
        if (i === 5) await check({}, early);
        await check({ span: 1 + ((i * 7919) % 64_000) });
      }
      expect((await closedKeys()).length).toBeGreaterThanOrEqual(10);
      await expectExpiries(stage(), 64_000);
      await check({}, early);
      await check({}, reader());
      await check({ span: 1500 }, reader());
    });

    test("chunks are closed at 1 MiB, and larger calls are split", async () => {
      const { open, reader, clock } = stage();
      const series = open({ values: "float32" });
      const values = Float32Array.from({ length: 600_000 }, (_, i) => i % 1000);
      await series.recordMany(values);
      clock.nowMs += 5;
      await series.record(5000);
      expect((await closedKeys()).length).toBeGreaterThanOrEqual(2);
      for (const one of [series, reader()]) {
        expect(await one.stats({ percentiles: [50] })).toMatchObject({ count: 600_001, max: 5000, degraded: false });
        const { count, sum, percentiles } = await one.stats({ at: clock.nowMs - 5, percentiles: [50] });
        expect({ count, sum, median: percentiles[50] }).toEqual({ count: 600_000, sum: 299_700_000, median: 499.5 });
      }
      const kept = (await reader().values()).subarray(0, values.length);
      expect(Buffer.compare(new Uint8Array(kept.buffer, 0, kept.byteLength), new Uint8Array(values.buffer))).toBe(0);
    });

    test("every key expires when no window can include its events, and a new series starts complete", async () => {
      const { open, reader, put, check, clock, keys } = stage();
      open({ retention: "2s" });
      for (let i = 0; i < 6; i++) {
        await put(i);
        clock.nowMs += 900;
        await expectExpiries(stage(), 2000);
      }
      clock.nowMs += 2000 + chunkMsOf(2000) + constants.expirySlackMs - 900;
      expect(await keys()).not.toEqual([]);
      // Up to a whole second, and the last chunk may have been closed a step after its last event.
      clock.nowMs += 1000 + 900;
      expect(await keys()).toEqual([]);
      await check({});
      await put(8, 9);
      await check({});
      expect((await reader().stats()).degraded).toBe(false);
      await expectExpiries(stage(), 2000);
    });

    test("a writer with a longer retention raises it; windows are degraded until it has filled", async () => {
      const { open, reader, put, check, clock } = stage();
      open({ retention: "2s" });
      await put(1);
      clock.nowMs += 500;
      const longer = reader({ retention: "10s" });
      expect(await longer.stats({ span: "2s" })).toMatchObject({ count: 1, degraded: false });
      expect(await longer.stats()).toMatchObject({ degraded: true, degradedBy: "retention" });
      await longer.record(2);
      stage().events.push({ t: clock.nowMs, value: 2 });
      expect(await longer.stats()).toMatchObject({ count: 2, degraded: true, degradedBy: "retention" });
      for (let i = 0; i < 8; i++) {
        clock.nowMs += 1000;
        await put(i);
        await expectExpiries(stage(), 10_000);
      }
      await check({}, longer);
      expect(await longer.stats()).toMatchObject({ degraded: false, count: 10 });
      expect(await reader({ retention: "10s" }).stats()).toMatchObject({ degraded: false, count: 10 });
    });

    test("a missing chunk is reported as lost", async () => {
      const { open, reader, put, clock, remove } = stage();
      open({ retention: "64s" });
      for (let i = 0; i < 10; i++) {
        await put(i);
        clock.nowMs += 1100;
      }
      const [, second] = (await closedKeys()).sort();
      await remove(second!);
      const fresh = reader();
      expect(await fresh.stats()).toMatchObject({ degraded: true, degradedBy: "lost" });
      clock.nowMs += 61_000;
      await put(10);
      expect(await fresh.stats({ span: 1000 })).toMatchObject({ count: 1, degraded: false });
    });

    test("when the server's clock is set back, the time stands still and answers are degraded until it has caught up", async () => {
      const { open, reader, put, check, clock, events } = stage();
      const series = open({ retention: "10s" });
      const topMs = clock.nowMs;
      await put(1);
      clock.nowMs -= 1000;
      await series.record(2);
      events.push({ t: topMs, value: 2 });
      await check({ now: topMs });
      expect((await series.stats()).degraded).toBe(false);
      clock.nowMs -= 5000;
      await series.record(3);
      events.push({ t: topMs, value: 3 });
      for (const one of [series, reader()]) {
        await check({ now: topMs }, one);
        expect(await one.stats({ span: 1 })).toMatchObject({ count: 3, degraded: true, degradedBy: "clock" });
      }
      clock.nowMs = topMs + 1;
      await put(4);
      await check({ span: 1 });
      await check({ span: 2 }, reader());
      expect((await series.stats()).degraded).toBe(false);
    });

    test("a chunk without appends for 45 days is closed before the next one", async () => {
      const { open, reader, put, check, clock } = stage();
      open({ retention: "1000d" });
      await put(1);
      clock.nowMs += constants.maxChunkAgeMs + 1;
      await put(2);
      expect(await closedKeys()).toHaveLength(1);
      await check({});
      await check({}, reader());
    });

    test("each name has keys of its own, with the prefix and the name in braces", async () => {
      const { open, put, keys } = stage();
      open();
      await put(1);
      expect(await keys()).toEqual([`oriel:{${NAME}}`]);
    });
  });
}
