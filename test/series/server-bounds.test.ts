import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LocalSeries, Series } from "../../src/entries/index.ts";
import { constants } from "../../src/journal/format/constants.ts";
import { serverStats } from "../../src/journal/steps/server-stats.ts";
import type { Store } from "../../src/store/contract.ts";
import { expectAlike } from "../stats/oracle.ts";
import { expectError, NAME, type Stage, stageOn } from "./contract/stage.ts";
import { type OpenStore, onMemory, onRedis6 } from "./contract/stores.ts";

const SERVER = { where: "server" } as const;

/** A store that counts the calls made inside it, and lets a test come in between. */
function counting(store: Store, before: (name: string) => Promise<void> = async () => {}) {
  const calls: string[] = [];
  const run: Store["run"] = async (operation, key, input, options) => {
    calls.push(operation.name);
    await before(operation.name);
    return store.run(operation, key, input, options);
  };
  // Announcements in the registry are no calls of a series.
  return { store: { ...store, run, onTurn: undefined } as Store, calls };
}

describe.each([
  { name: "memory", open: onMemory },
  { name: "redis", open: onRedis6 },
])("bounds and failures of stats inside the store, $name", ({ open }) => {
  let opened: OpenStore;
  let stage: Stage;
  beforeAll(async () => {
    opened = await open();
  });
  beforeEach(async () => {
    await opened.clear();
    stage = stageOn(opened);
  });
  afterAll(() => opened?.close());

  test("takes one request, or two if chunks were closed; equal queries share it", async () => {
    stage.open({ retention: "64s" });
    for (let i = 0; i < 5; i++) {
      await stage.put(i);
      opened.clock.nowMs += 1100;
    }
    const { store, calls } = counting(opened.store);
    const series = new Series(store, NAME, { retention: "64s" });
    await series.stats(SERVER);
    expect(calls.splice(0)).toEqual([serverStats.name, serverStats.name]);
    const answers = await Promise.all([
      series.stats(SERVER),
      series.stats(SERVER),
      series.stats({ span: 9, ...SERVER }),
    ]);
    expect(calls.splice(0)).toEqual([serverStats.name, serverStats.name]);
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).not.toBe(answers[1]);
    await stage.put(9);
    expect((await series.stats(SERVER)).count).toBe(6);
    expect(calls.length).toBeLessThanOrEqual(2);
  });

  test("gives up if chunks are closed again and again between requests", async () => {
    stage.open({ retention: "64s" });
    await stage.put(0);
    const { store, calls } = counting(opened.store, async () => {
      for (let i = 0; i < 3; i++) {
        opened.clock.nowMs += 1100;
        await stage.put(i);
      }
    });
    const series = new Series(store, NAME, { retention: "64s" });
    await expectError(series.stats(SERVER), "LOST", /kept changing/);
    expect(calls).toHaveLength(8);
  });

  test("a window above the bounds of the store is answered by the process, from the chunks", async () => {
    const series = stage.open();
    await series.recordMany(new Float32Array(constants.maxServerEvents));
    expect((await series.stats(SERVER)).count).toBe(constants.maxServerEvents);
    opened.clock.nowMs += 100;
    await stage.put(1);
    expect((await series.stats(SERVER)).count).toBe(constants.maxServerEvents + 1);
    expect((await series.stats()).count).toBe(constants.maxServerEvents + 1);
    expect((await series.stats({ span: 100, ...SERVER })).count).toBe(1);
    const at = opened.clock.nowMs;
    expect((await stage.reader().stats({ at, ...SERVER })).count).toBe(constants.maxServerEvents + 1);
    await series.recordMany(new Float32Array(constants.maxServerBytes / 4));
    expect((await series.stats({ span: 1, at: at - 1000, ...SERVER })).count).toBe(0);
  });

  test.each(["server", "event"] as const)(
    "an open chunk above the bound is read by the process, clock: %s",
    async (clock) => {
      const series = stage.open({ clock });
      const at = opened.clock.nowMs;
      await series.recordMany(new Float32Array(constants.maxServerBytes / 8), { at });
      expect((await series.stats({ span: 1, ...SERVER })).count).toBe(constants.maxServerBytes / 8);
      expect((await series.stats({ span: 1 })).count).toBe(constants.maxServerBytes / 8);
    },
  );

  test("with own times, only events inside count against the bound", async () => {
    const series = stage.open();
    const { nowMs } = opened.clock;
    const at = Float64Array.from({ length: 20_000 }, (_, i) => nowMs - (i % 40_000));
    await series.recordMany(
      at.map((_, i) => i % 77),
      { at },
    );
    const question = { span: 9000, at: nowMs - 5000 };
    expectAlike(await series.stats({ ...question, ...SERVER }), await series.stats(question));
    expect((await series.stats({ ...question, ...SERVER })).count).toBe(9000);
    expectAlike(await series.stats(SERVER), await series.stats());
  });

  test("is degraded for the same reasons as the client's answers", async () => {
    const series = stage.open({ retention: "64s" });
    const both = async (one: Series, options: Parameters<Series["stats"]>[0] = {}) => {
      const answers = [await one.stats({ ...options, ...SERVER }), await one.stats(options)];
      expectAlike(answers[0]!, answers[1]!);
      return answers[0]!.degradedBy;
    };
    for (let i = 0; i < 6; i++) {
      await stage.put(i);
      opened.clock.nowMs += 1100;
    }
    expect(await both(series)).toBeUndefined();
    expect(await both(series, { at: opened.clock.nowMs - 5000 })).toBe("retention");
    expect(await both(stage.reader({ retention: "1h" }), { span: "2m" })).toBe("retention");
    opened.clock.nowMs -= 9000;
    expect(await both(series, { span: 1 })).toBe("clock");
    opened.clock.nowMs += 9000;
    const closed = (await opened.keys()).filter((key) => key.includes(`{${NAME}}:`)).sort();
    await opened.remove(closed[1]!);
    expect(await both(stage.reader())).toBe("lost");
    opened.clock.nowMs += 63_000;
    await stage.put(9);
    expect(await both(stage.reader(), { span: 1000 })).toBeUndefined();
  });

  test("a rolled back journal is reported as lost, even if the process saw it only through the server", async () => {
    const writer = stage.open();
    const onlooker = stage.reader();
    await stage.put(1, 2);
    expect(await onlooker.stats(SERVER)).toMatchObject({ count: 2, degraded: false });
    await opened.remove(opened.store.keyOf(NAME));
    expect(await onlooker.stats(SERVER)).toMatchObject({ count: 0, degraded: false });
    await writer.record(1);
    await onlooker.stats(SERVER);
    await opened.remove(opened.store.keyOf(NAME));
    // The number of the new beginning is lower: as a replica that lags would have it.
    opened.clock.nowMs -= 1;
    await new Series(opened.store, NAME, { retention: "1m" }).record(1);
    opened.clock.nowMs += 1;
    expect(await onlooker.stats(SERVER)).toMatchObject({ count: 1, degraded: true, degradedBy: "lost" });
  });

  test("wrong arguments are refused before any request", async () => {
    const { store, calls } = counting(opened.store);
    const series = new Series(store, NAME);
    await expectError(
      series.stats({ where: "redis" as never }),
      "ARGUMENT",
      /where is "redis"; it must be "client" or/,
    );
    await expectError(series.stats({ span: "2h", ...SERVER }), "ARGUMENT", /span is "2h"/);
    const percentiles = Array.from({ length: 65 }, (_, i) => i);
    await expectError(
      series.stats({ percentiles, ...SERVER }),
      "ARGUMENT",
      /percentiles is an array of 65; it must be at most 64/,
    );
    await expectError(series.recordAndGet(1, SERVER as never), "ARGUMENT", /option is "where"/);
    await expectError(series.values(SERVER as never), "ARGUMENT", /option is "where"/);
    await expectError(Series.stats([series], SERVER as never), "ARGUMENT", /option is "where"/);
    expect(() => new LocalSeries().stats(SERVER as never)).toThrow(/option is "where"/);
    expect(calls).toEqual([]);
    expect((await series.stats({ percentiles: percentiles.slice(1), ...SERVER })).count).toBe(0);
  });

  test("another value type or clock is a mismatch", async () => {
    stage.open();
    await stage.put(1, 2);
    await expectError(stage.reader({ values: "float64" }).stats(SERVER), "MISMATCH");
    await expectError(stage.reader({ clock: "event" }).stats(SERVER), "MISMATCH");
  });

  test("an abort ends the wait; a closed series answers no more", async () => {
    const series = stage.open();
    await expect(series.stats({ ...SERVER, signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
    await series.close();
    await expectError(series.stats(SERVER), "UNAVAILABLE", /closed/);
  });
});
