import { describe, expect, test } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import type { SeriesOptions } from "../../../src/engine/series/series-options.ts";
import { Series } from "../../../src/entries/index.ts";
import { repeatableStore } from "../../harness/repeatable-store.ts";
import { expectGuardOnly, NAME, type Stage } from "./stage.ts";

const { voidAfterMs, dedupeMs } = constants;

/** Copies of requests that arrive after a deletion: what was recorded before it never comes back. */
export function deletedSuite(stage: () => Stage): void {
  /** A series of another process, whose requests can arrive a second time. */
  const sender = (options: SeriesOptions = {}) => {
    const { store, repeatAll } = repeatableStore(stage().other);
    return { series: new Series(store, NAME, { ...stage().modes, retention: "1m", ...options }), repeatAll };
  };

  const WRITES: Record<string, (series: Series) => Promise<unknown>> = {
    record: (series) => series.record(1),
    "record, to a chunk with events": (series) => series.record(1).then(() => series.record(2)),
    recordMany: (series) => series.recordMany([1, 2, 3]),
    "record with a time": (series) => series.record(1, { at: stage().clock.nowMs }),
    recordAndGet: (series) => series.recordAndGet(1, { span: "1m" }),
  };

  describe("a late copy after a deletion", () => {
    for (const [name, write] of Object.entries(WRITES))
      test(`of ${name}: changes nothing, whether the series was begun again or not`, async () => {
        const { open, reader, put, check, clock } = stage();
        const series = open();
        const { series: first, repeatAll } = sender();
        await write(first);
        clock.nowMs += 500;
        await series.delete();
        await repeatAll();
        expect((await reader().stats()).count).toBe(0);
        await expectGuardOnly(stage());
        clock.nowMs += 1;
        for (const [i, laterMs] of [0, 1, voidAfterMs - 1, voidAfterMs, dedupeMs, 2 * dedupeMs].entries()) {
          await put(i);
          await repeatAll();
          await check();
          await check({}, reader());
          clock.nowMs += laterMs;
        }
        first.close();
      });

    test("changes nothing after the series has begun again as another kind, and was rotated", async () => {
      const { open, reader, clock } = stage();
      const { series: first, repeatAll } = sender({ retention: "1s", values: "float32" });
      await first.record(1);
      await first.record(2);
      await first.delete();
      clock.nowMs += 1;
      const later = open({ retention: "1s", values: "float64", clock: "event" });
      expect((await reader().stats()).count).toBe(0);
      for (let i = 0; i < 6; i++) {
        await later.record(0.1, { at: clock.nowMs });
        await repeatAll();
        expect(await reader().stats()).toMatchObject({ count: Math.min(i + 1, 2), sum: Math.min(i + 1, 2) * 0.1 });
        clock.nowMs += 600;
      }
    });

    test("does not stop processes that go on: each event counts once, with one request more", async () => {
      const { open, put, check, clock, reader } = stage();
      open();
      const { series: other } = sender();
      await put(1, 2, 3);
      await other.record(4);
      for (let i = 0; i < 3; i++) {
        await stage().series.delete();
        stage().events.length = 0;
        clock.nowMs += 7;
        await put(5);
        await other.record(6);
        await other.recordMany([7, 8]);
        stage().events.push(...[6, 7, 8].map((value) => ({ t: clock.nowMs, value })));
        await check();
        await check({}, reader());
      }
    });

    test("is refused after the server's clock was set back, and new events are accepted", async () => {
      const { open, put, check, clock } = stage();
      open();
      const { series: first, repeatAll } = sender();
      await first.record(1);
      await stage().series.delete();
      const deletedMs = clock.nowMs;
      clock.nowMs -= 5_000;
      await repeatAll();
      await stage().series.record(9);
      await repeatAll();
      // Time does not run back in a series.
      stage().events.push({ t: deletedMs + 1, value: 9 });
      clock.nowMs = deletedMs + 1;
      await put(10);
      await repeatAll();
      await check();
    });
  });
}
