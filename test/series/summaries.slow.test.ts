import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Series, type SeriesOptions } from "../../src/entries/index.ts";
import { constants } from "../../src/journal/format/constants.ts";
import { encodeFrame } from "../../src/journal/format/frames.ts";
import { append } from "../../src/journal/steps/append.ts";
import { compare, NAME, OPTIONS, STORES } from "../journal/twins/near.ts";
import { uniformOf } from "../stats/random.ts";
import { shortChunks } from "./cold-journal.ts";
import type { OpenStore } from "./contract/stores.ts";

describe.each(STORES)("in %s", (_name, open) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  test("a copy of a frame that a summary includes does not count again", async () => {
    await opened.clear();
    const { clock, store } = opened;
    const key = store.keyOf(NAME);
    const base = { valueType: 1, clock: 0, retentionMs: 60_000, birth: 9, known: "none" as const };
    const put = (sequence: number, count = 300, producer = 5) =>
      store.run(append, key, {
        ...base,
        voidAfterMs: clock.nowMs + constants.voidAfterMs,
        frames: [
          encodeFrame(
            producer,
            sequence,
            Float64Array.from({ length: count }, (_, i) => i),
          ),
        ],
      });
    for (const sequence of [4_294_967_294, 4_294_967_295, 0, 1, 2, 3]) {
      await put(sequence);
      clock.nowMs += 2000;
    }
    const series = new Series(store, NAME, OPTIONS);
    await series.summarize({ rankError: 0.2 });
    // Copies of what is in the summary, then something new, and its copy.
    for (const sequence of [3, 2, 4, 4]) await put(sequence);
    // Another producer's frame of the same number.
    await put(3, 300, 6);
    expect(await compare(opened, 60_000, 0.5)).toBe(true);
    const ask = () => new Series(store, NAME, OPTIONS).stats({ approximate: { rankError: 0.5 } });
    expect((await ask()).count).toBe(8 * 300);
    // By the law, what comes 20 s later is another frame.
    clock.nowMs += 19_000;
    await put(1, 300);
    await compare(opened, 60_000, 0.5);
    await series.close();
  });

  test("a summary is used across rotations, and expires with the journal", async () => {
    shortChunks();
    await opened.clear();
    const { store, clock } = opened;
    const writer = new Series(store, NAME, OPTIONS);
    const fill = async (count: number) => {
      for (let i = 0; i < count; i++) await writer.recordMany(Array.from({ length: 400 }, (_, j) => i * j));
    };
    await fill(10);
    await writer.summarize({ rankError: 0.2 });
    const summary = `${store.keyOf(NAME)}:summary`;
    expect(await opened.keys()).toContain(summary);
    const expiryMs = await opened.expiryOf(summary);
    expect(expiryMs).toBeGreaterThan(clock.nowMs + 60_000);
    expect(expiryMs).toBeLessThan(clock.nowMs + 180_000);
    expect(await compare(opened, 60_000, 0.3)).toBe(true);
    await fill(3);
    expect(await compare(opened, 60_000, 0.3)).toBe(true);
    await writer.delete();
    // The guard of the deleted series.
    expect(await opened.keys()).toEqual([opened.store.keyOf("summed up")]);
    await writer.close();
  });

  test("queries and summaries that began before a close are completed", async () => {
    await opened.clear();
    const { store } = opened;
    const writer = new Series(store, NAME, OPTIONS);
    await writer.recordMany(Array.from({ length: 900 }, (_, i) => i));
    const published = writer.summarize({ rankError: 0.2 });
    await writer.close();
    await published;
    for (const rankError of [0, 0.5]) {
      const reader = new Series(store, NAME, OPTIONS);
      const asked = reader.stats({ approximate: { rankError } });
      await reader.close();
      const { count, approximate } = await asked;
      expect([count, approximate!.rankError > 0]).toEqual([900, rankError > 0]);
    }
  });

  test("a summary of a journal that lacks a chunk is degraded", async () => {
    shortChunks();
    await opened.clear();
    const { store, clock } = opened;
    const writer = new Series(store, NAME, OPTIONS);
    for (let i = 0; i < 10; i++) {
      await writer.recordMany(Array.from({ length: 400 }, (_, j) => i * j));
      clock.nowMs += 1000;
    }
    await writer.close();
    const closed = (await opened.keys()).filter((key) => /:\d+$/.test(key)).sort();
    await opened.remove(closed[2]!);
    const publisher = new Series(store, NAME, OPTIONS);
    await publisher.summarize({ rankError: 0.2 });
    await publisher.close();
    const { degraded, degradedBy, approximate } = await new Series(store, NAME, OPTIONS).stats({
      approximate: { rankError: 0.5 },
    });
    expect([degraded, degradedBy]).toEqual([true, "lost"]);
    expect(approximate!.rankError).toBeGreaterThan(0);
    expect(await compare(opened, 60_000, 0.5)).toBe(true);
  });

  test.each([
    { clock: "event" as const },
    { nan: "ignore" as const },
    { nan: "propagate" as const },
    { nan: "ignore" as const, clock: "event" as const, values: "float32" as const },
  ])("a series with %o has the same summaries", async (more) => {
    const options: SeriesOptions = { ...OPTIONS, ...more };
    await opened.clear();
    const { store, clock } = opened;
    const writer = new Series(store, NAME, options);
    const random = uniformOf(7);
    const put = async (turns: number) => {
      for (let i = 0; i < turns; i++) {
        const values = Array.from({ length: 100 }, () =>
          random() < 0.01 ? Number.POSITIVE_INFINITY : Math.floor(1e4 * random()),
        );
        if (more.nan && i === 20) values.fill(Number.NaN, 40, 50);
        // Of the last seconds, in any order.
        const at = values.map(() => clock.nowMs - Math.floor(4000 * random()));
        await writer.recordMany(more.nan ? values : values.map((x) => Math.min(x, 1e6)), more.clock ? { at } : {});
        clock.nowMs += 400;
      }
    };
    await put(100);
    await writer.summarize({ rankError: 0.05 });
    await put(5);
    await writer.close();
    let used = 0;
    for (let spanMs = 4000; spanMs < 40_000; spanMs += 1300)
      if (await compare(opened, spanMs, 0.5, undefined, options)) used++;
    expect(used).toBeGreaterThan(10);
  });

  test("a stretch of events at an edge is counted in the error", async () => {
    await opened.clear();
    const { store, clock } = opened;
    const writer = new Series(store, NAME, OPTIONS);
    for (let i = 0; i < 100; i++) {
      await writer.recordMany(Array.from({ length: 200 }, (_, j) => (i * j) % 997));
      clock.nowMs += 300;
    }
    await writer.summarize({ rankError: 0.1 });
    await writer.close();
    let cut = 0;
    for (let spanMs = 10_000; spanMs < 30_000; spanMs += 1700) {
      const reader = new Series(store, NAME, OPTIONS);
      const { approximate } = await reader.stats({ span: spanMs, approximate: { rankError: 0.5 } });
      expect(approximate!.events).toBeLessThanOrEqual((20_000 * 0.1) / 2);
      if (approximate!.events > 0) cut++;
      expect(await compare(opened, spanMs, 0.5)).toBe(true);
      await reader.close();
    }
    expect(cut).toBeGreaterThan(5);
  });
});
