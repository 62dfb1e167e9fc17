import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { forceKernel } from "../../src/engine/kernel/choose.ts";
import { readWindow, writeWindow } from "../../src/engine/locked-window/steps.ts";
import { LockedWindow, type Store } from "../../src/entries/index.ts";
import { type MatrixStore, overMatrix } from "../matrix/open.ts";
import { percentileByHand } from "../stats/oracle.ts";

const KEY = "sw_counter_bytes:{orders}";
const SPAN_MS = 1000;

/** The published listing, read literally; sums in f64, so compared as f32. */
function oracle(events: { t: number; value: number }[], cutoffMs: number, closed: unknown) {
  const values = events
    .filter(({ t }) => (closed === "right" ? t > cutoffMs : t >= cutoffMs))
    .map(({ value }) => value);
  const sum = values.reduce((total, value) => total + value, 0);
  const sorted = [...values].sort((a, b) => a - b);
  const count = values.length;
  return { count, sum, average: count && sum / count, p99: count && percentileByHand(sorted, 99, "linear") };
}

function expectClose(answer: object, expected: object): void {
  for (const [name, value] of Object.entries(expected)) expect(answer).toHaveProperty(name, expect.closeTo(value, 2));
}

overMatrix("lockedWindow", (name, open, { kernel, modes }) =>
  describe(`a locked window: ${name}`, () => {
    let opened: MatrixStore;
    beforeAll(async () => {
      forceKernel(kernel);
      opened = await open();
    });
    beforeEach(() => opened.clear());
    afterAll(async () => {
      forceKernel(null);
      await opened.close();
    });
    const on = (store: Store, options = {}) =>
      new LockedWindow(store, "orders", { span: SPAN_MS, ...opened.modes, ...options });

    test("answers like brute force over the events of two processes while time passes", async () => {
      const windows = [on(opened.store), on(opened.other)];
      const events: { t: number; value: number }[] = [];
      // Over HTTP there is no message that the lock is free, so a waiter polls.
      for (let i = 0; i < (opened.store.subscribe ? 60 : 15); i++) {
        opened.clock.nowMs += [0, 1, 40, 333][i % 4]!;
        const { nowMs } = opened.clock;
        const value = Math.fround(((i * 7919) % 101) / 8);
        events.push({ t: nowMs, value });
        expectClose(await windows[i % 2]!.addAndGetStats(value), oracle(events, nowMs - SPAN_MS, modes.closed));
        expectClose(await windows[(i + 1) % 2]!.stats(), oracle(events, nowMs - SPAN_MS, modes.closed));
      }
    });

    test("includes an event of exactly the span with closed both, and excludes it with closed right", async () => {
      await on(opened.store).addAndGetStats(5);
      opened.clock.nowMs += SPAN_MS;
      expect((await on(opened.store, { closed: "both" }).stats()).count).toBe(1);
      expect((await on(opened.store, { closed: "right" }).stats()).count).toBe(0);
      opened.clock.nowMs += 1;
      expect(await on(opened.store).stats()).toEqual({ count: 0, sum: 0, average: 0, p99: 0 });
      expect(await on(opened.store).addAndGetStats(2)).toEqual({ count: 1, sum: 2, average: 2, p99: 2 });
    });

    test("adds concurrent events in one step, and answers each call for all", async () => {
      const window = on(opened.store);
      const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => window.addAndGetStats(i)));
      expect(answers[0]!.count).toBe(500);
      expect(answers[499]).toEqual({ count: 500, sum: 124_750, average: 249.5, p99: Math.fround(494.01) });
    });

    test("expires twice the span after the last step", async () => {
      await on(opened.store).addAndGetStats(1);
      expect(await opened.expiryOf(KEY)).toBe(opened.clock.nowMs + 2 * SPAN_MS);
    });

    test("answers custom statistics over the values, in the order recorded", async () => {
      const statistics = {
        newest: (values: Float32Array) => values.at(-1),
        ages: (_: Float32Array, times: BigInt64Array) => [...times].map((t) => opened.clock.nowMs - Number(t)),
      };
      const window = on(opened.store, { statistics }) as LockedWindow<typeof statistics>;
      await window.addAndGetStats(9);
      opened.clock.nowMs += 10;
      const { newest, ages, count } = await window.addAndGetStats(4);
      expect({ newest, ages, count }).toEqual({ newest: 4, ages: [10, 0], count: 2 });
    });

    test("changes nothing if a statistic throws", async () => {
      await on(opened.store).addAndGetStats(1);
      const broken = on(opened.store, {
        statistics: {
          fails: () => {
            throw new RangeError("no");
          },
        },
      });
      await expect(broken.addAndGetStats(2)).rejects.toThrow(RangeError);
      expect((await on(opened.store).stats()).sum).toBe(1);
    });

    test("is not written by a hold that was superseded, nor after a delete", async () => {
      const { store, other } = opened;
      await on(store).addAndGetStats(1);
      const fence = 9_000_000_000_000_000;
      const read = (by: Store, mark: { fence: number; nonce: number }) =>
        by.run(readWindow, KEY, { mark, maxBytes: 1000, spanMs: SPAN_MS });
      const write = (by: Store, mark: { fence: number; nonce: number }) =>
        by.run(writeWindow, KEY, { mark, times: new Uint8Array(16), values: new Uint8Array(8), spanMs: SPAN_MS });
      const stale = { code: "STALE", applied: "no" };
      await read(store, { fence, nonce: 1 });
      await read(other, { fence: fence + 1, nonce: 1 });
      await expect(write(store, { fence, nonce: 1 })).rejects.toMatchObject(stale);
      await expect(read(store, { fence, nonce: 1 })).rejects.toMatchObject(stale);
      await expect(read(store, { fence: fence + 1, nonce: 2 })).rejects.toMatchObject(stale);
      expect((await on(store).stats()).count).toBe(1);
      await write(other, { fence: fence + 1, nonce: 1 });
      await write(other, { fence: fence + 1, nonce: 1 });
      expect((await read(store, { fence: 0, nonce: 0 })).values.length).toBe(8);
      await opened.remove(KEY);
      await expect(write(other, { fence: fence + 1, nonce: 1 })).rejects.toMatchObject(stale);
      expect((await on(store).stats()).count).toBe(0);
    });

    test("refuses events above maxBytes before anything is written", async () => {
      const window = on(opened.store, { maxBytes: 1200 });
      await Promise.all(Array.from({ length: 100 }, (_, i) => window.addAndGetStats(i)));
      await expect(window.addAndGetStats(1)).rejects.toMatchObject({ code: "TOO_LARGE", applied: "no" });
      await expect(on(opened.store, { maxBytes: 1199 }).stats()).rejects.toMatchObject({ code: "TOO_LARGE" });
      expect((await window.stats()).count).toBe(100);
      opened.clock.nowMs += SPAN_MS + 1;
      expect((await window.addAndGetStats(1)).count).toBe(1);
    });

    test("refuses wrong arguments at once", async () => {
      const wrong: [object, string][] = [
        [{ span: 0 }, "span"],
        [{ span: "366d" }, "span"],
        [{ closed: "left" }, "closed"],
        [{ wait: -1 }, "wait"],
        [{ lease: 9 }, "lease"],
        [{ maxBytes: 1 }, "maxBytes"],
        [{ statistics: { p99: () => 1 } }, "statistics"],
        [{ statistics: { mine: 1 } }, "statistics.mine"],
        [{ colour: 1 }, "colour"],
      ];
      for (const [options] of wrong)
        expect(() => on(opened.store, options)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
      for (const [options, argument] of wrong) expect(() => on(opened.store, options)).toThrow(argument);
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 3.5e38, "1" as never])
        await expect(on(opened.store).addAndGetStats(value)).rejects.toMatchObject({ code: "ARGUMENT" });
      expect((await on(opened.store).stats()).count).toBe(0);
    });
  }),
);
