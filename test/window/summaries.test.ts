import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Series, type SeriesOptions } from "../../src/index.ts";
import { append } from "../../src/window/append.ts";
import { encodeFrame } from "../../src/window/frames.ts";
import { law } from "../../src/window/law.ts";
import { counted, shortChunks } from "./cold-journal.ts";
import { rankErrorOf } from "./oracle.ts";
import { uniformOf } from "./random.ts";
import { type OpenStore, onMemory, onRedis6, tables } from "./stores.ts";

const NAME = "summed up";
const PERCENTILES = [0, 1, 25, 50, 90, 99, 99.9, 100];
const OPTIONS = { values: "float64", retention: "60s" } as const;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("record" as const), count: fc.constantFrom(1, 30, 900, 3000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("dated" as const), backMs: fc.constantFrom(500, 20_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("summarize" as const), error: fc.constantFrom(0.02, 0.2) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 700, 3000, 3000, 25_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      spanMs: fc.constantFrom(60_000, 30_000, 5000),
      accepted: fc.constantFrom(0, 0.05, 0.2, 0.5, 0.5),
      isPast: fc.boolean(),
    }),
  },
);

describe.each([
  ["memory", onMemory, 60],
  ["redis", onRedis6, 25],
  ["redis over HTTP", tables.find(({ name }) => name === "redis over HTTP")!.open, 10],
] as const)("in %s", (_name, open: () => Promise<OpenStore>, numRuns) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  async function compare(spanMs: number, rankError: number, at?: number, options: SeriesOptions = OPTIONS) {
    const { asked, store } = counted(opened.store);
    const [near, exact] = [store, opened.other].map((each) => new Series(each, NAME, options)) as [Series, Series];
    const window = at === undefined ? { span: spanMs } : { span: spanMs, at };
    const question = { ...window, percentiles: PERCENTILES };
    const got = await near.stats({ ...question, approximate: { rankError } });
    const expected = await exact.stats(question);
    const values = [...(await exact.values(window))].filter((x) => !Number.isNaN(x)).sort((a, b) => a - b);
    const isSpoilt = Number.isNaN(expected.percentiles[50]);
    expect(Number.isNaN(got.percentiles[50])).toBe(isSpoilt);
    await Promise.all([near.close(), exact.close()]);
    const { approximate, ...stats } = got;
    expect(approximate!.rankError).toBeLessThanOrEqual(rankError);
    expect(Math.abs(got.count - expected.count)).toBeLessThanOrEqual(approximate!.events);
    for (const p of !isSpoilt && approximate!.rankError > 0 ? PERCENTILES : [])
      expect(rankErrorOf(values, got.percentiles[p]!, p)).toBeLessThanOrEqual(approximate!.rankError + 1e-12);
    const keep = ["from", "to", "degraded", "degradedBy"] as const;
    if (approximate!.events === 0) {
      for (const name of [...keep, "count", "min", "max"] as const) expect(stats[name]).toEqual(expected[name]);
      for (const name of ["sum", "mean", "variance", "std"] as const) {
        const isNear = Math.abs(stats[name] - expected[name]) <= 1e-9 * (1 + Math.abs(expected[name]));
        expect(isNear || Object.is(stats[name], expected[name])).toBe(true);
      }
    } else for (const name of keep) expect(stats[name]).toEqual(expected[name]);
    if (approximate!.rankError === 0) expect(stats.percentiles).toEqual(expected.percentiles);
    return approximate!.rankError > 0 && !asked.includes("window/cold");
  }

  test("no answer of a cold reader is further off than it says", { timeout: 120_000 }, async () => {
    const usual = law.rotateBytes;
    law.rotateBytes = 20_000;
    onTestFinished(() => {
      law.rotateBytes = usual;
    });
    let used = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 15, maxLength: 40, size: "max" }),
        fc.integer(),
        async (steps, seed) => {
          await opened.clear();
          const random = uniformOf(seed);
          const { clock, store } = opened;
          const writers = [new Series(store, NAME, OPTIONS), new Series(store, NAME, OPTIONS)];
          const drawn = (count: number) => Array.from({ length: count }, () => Math.floor(1e4 * random() ** 3));
          for (const one of steps) {
            const writer = writers[random() < 0.5 ? 0 : 1]!;
            if (one.kind === "record") await writer.recordMany(drawn(one.count));
            else if (one.kind === "dated") await writer.recordMany(drawn(100), { at: clock.nowMs - one.backMs });
            else if (one.kind === "summarize") await writer.summarize({ rankError: one.error });
            else if (one.kind === "wait") clock.nowMs += one.ms;
            else {
              const at = one.isPast ? clock.nowMs - 3000 : undefined;
              if (await compare(Math.min(one.spanMs, one.isPast ? 57_000 : 60_000), one.accepted, at)) used++;
            }
          }
          await Promise.all(writers.map((each) => each.close()));
        },
      ),
      { numRuns },
    );
    expect(used).toBeGreaterThan(numRuns / 4);
  });

  test("a copy of a frame that a summary holds is not counted again", async () => {
    await opened.clear();
    const { clock, store } = opened;
    const key = store.keyOf(NAME);
    const base = { valueType: 1, clock: 0, retentionMs: 60_000, birth: 9, known: "none" as const };
    const put = (sequence: number, count = 300, producer = 5) =>
      store.run(append, key, {
        ...base,
        voidAfterMs: clock.nowMs + law.voidAfterMs,
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
    expect(await compare(60_000, 0.5, undefined)).toBe(true);
    const ask = () => new Series(store, NAME, OPTIONS).stats({ approximate: { rankError: 0.5 } });
    expect((await ask()).count).toBe(8 * 300);
    // By the law, what comes 20 s later is another frame.
    clock.nowMs += 19_000;
    await put(1, 300);
    await compare(60_000, 0.5, undefined);
    await series.close();
  });

  test("a summary is used across rotations, and goes with the journal", async () => {
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
    expect(await compare(60_000, 0.3, undefined)).toBe(true);
    await fill(3);
    expect(await compare(60_000, 0.3, undefined)).toBe(true);
    await writer.delete();
    expect(await opened.keys()).toEqual([]);
    await writer.close();
  });

  test("a summary of a journal that lacks a chunk says so", async () => {
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
    expect(await compare(60_000, 0.5, undefined)).toBe(true);
  });

  test.each([
    { clock: "event" as const },
    { nan: "ignore" as const },
    { nan: "propagate" as const },
    { nan: "ignore" as const, clock: "event" as const, values: "float32" as const },
  ])("the same of a series with %o", async (more) => {
    const options: SeriesOptions = { ...OPTIONS, ...more };
    await opened.clear();
    const { store, clock } = opened;
    const writer = new Series(store, NAME, options);
    const random = uniformOf(7);
    const put = async (turns: number) => {
      for (let i = 0; i < turns; i++) {
        const values = Array.from({ length: 100 }, () => (random() < 0.01 ? Infinity : Math.floor(1e4 * random())));
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
    for (let spanMs = 4000; spanMs < 40_000; spanMs += 1300) if (await compare(spanMs, 0.5, undefined, options)) used++;
    expect(used).toBeGreaterThan(10);
  });

  test("an edge that cuts a stretch is told by its events", async () => {
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
      expect(await compare(spanMs, 0.5, undefined)).toBe(true);
      await reader.close();
    }
    expect(cut).toBeGreaterThan(5);
  });
});
