import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { append } from "../../src/engine/journal/steps/append.ts";
import { METHODS } from "../../src/engine/kernel/percentile/percentile.ts";
import { Series } from "../../src/entries/index.ts";
import { expectAlike, expectStats, inside } from "../stats/oracle.ts";
import { uniformOf } from "../stats/random.ts";
import { NAME, type Stage, stageOn } from "./contract/stage.ts";
import { type OpenStore, onMemory, onRedis6 } from "./contract/stores.ts";

describe.each([
  { name: "memory", open: onMemory },
  { name: "redis", open: onRedis6 },
])("stats of a process that has nothing yet, $name", ({ open }) => {
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

  const value = fc.oneof(
    fc.constantFrom(0, -0, 1, 2, 2, 1e9),
    fc.double({ min: -1e5, max: 1e5, noNaN: true }),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  );
  const recorded = fc.record({
    values: fc.array(value, { minLength: 1, maxLength: 12 }),
    /** Own times, ms from now. */
    at: fc.option(fc.constantFrom(0, -1, -3000, 30_000)),
    waitMs: fc.constantFrom(0, 1, 400, 1000, 7000),
  });
  const asked = fc.record({
    span: fc.constantFrom(1, 400, 1400, 30_000, 64_000),
    agoMs: fc.option(fc.constantFrom(0, 1, 5000)),
    closed: fc.constantFrom("right" as const, "both" as const),
    method: fc.constantFrom(...METHODS),
    ddof: fc.constantFrom(0, 1),
    percentiles: fc.array(fc.constantFrom(0, 1, 33.3, 50, 99, 100), { maxLength: 4 }),
  });
  const shape = fc.record({
    values: fc.constantFrom("float32" as const, "float64" as const),
    nan: fc.constantFrom("ignore" as const, "propagate" as const),
    clock: fc.constantFrom("server" as const, "event" as const),
  });

  test("any journal and query: the answer matches brute force and the client", async () => {
    await fc.assert(
      fc.asyncProperty(
        shape,
        fc.array(recorded, { minLength: 1, maxLength: 12 }),
        fc.array(asked, { minLength: 1, maxLength: 6 }),
        async (options, records, questions) => {
          await opened.clear();
          const series = new Series(opened.store, NAME, { ...options, retention: "64s" });
          const events: { t: number; value: number }[] = [];
          for (const { values, at, waitMs } of records) {
            const t = opened.clock.nowMs + (at ?? 0);
            const given = at === null && options.clock === "server" ? {} : { at: t };
            const isLate = await series.recordMany(values, given).then(
              () => false,
              ({ code }) => code === "LATE" || Promise.reject(code),
            );
            const stored = options.values === "float32" ? values.map(Math.fround) : values;
            if (!isLate) events.push(...stored.map((each) => ({ t, value: each })));
            opened.clock.nowMs += waitMs;
          }
          for (const { agoMs, ...question } of questions) {
            const stats = { ...question, ...(agoMs === null ? {} : { at: opened.clock.nowMs - agoMs }) };
            const fresh = new Series(opened.other, NAME, { ...options, retention: "64s" });
            const answer = await fresh.stats(stats);
            expectStats(answer, inside(events, answer.from, answer.to, question.closed), { ...question, ...options });
            // An answer of several series reads a copy, from which the next one comes.
            const cold = new Series(opened.other, NAME, { ...options, retention: "64s" });
            expectAlike(answer, await Series.stats([cold], stats));
            expectAlike(answer, await cold.stats(stats));
            for (const one of [series, fresh]) expectAlike(answer, await one.stats(stats));
            for (const one of [fresh, cold]) await one.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("thousands of events in many chunks, alone and in batches", async () => {
    const series = stage.open({ values: "float64" });
    const random = uniformOf(1);
    for (let i = 0; i < 60; i++) {
      await stage.put(...Array.from({ length: i % 3 === 0 ? 400 : 7 }, () => 1e9 + 1e5 * random()));
      opened.clock.nowMs += 1000;
    }
    for (const span of [500, 20_000, 59_000]) {
      const questions = { span, percentiles: [0, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 100] };
      for (const one of [series, stage.reader()]) await stage.check(questions, one);
    }
  });

  test("an empty series, and an empty window", async () => {
    const series = stage.open();
    const nothing = { count: 0, sum: 0, mean: Number.NaN, min: Number.NaN, degraded: false, to: opened.clock.nowMs };
    expect(await series.stats()).toMatchObject({
      ...nothing,
      percentiles: { 50: Number.NaN, 90: Number.NaN, 99: Number.NaN },
    });
    await stage.put(1);
    opened.clock.nowMs += 10;
    expect(await series.stats({ span: 5 })).toMatchObject({ ...nothing, to: opened.clock.nowMs });
  });

  test("earlier events are in the answer although no caller waited for them", async () => {
    const series = stage.open();
    const recorded = [series.record(1), series.recordMany([2, 3])];
    expect((await series.stats()).sum).toBe(6);
    await Promise.all(recorded);
  });

  test("a frame that is sent again after a lost reply counts once, over a rotation and 20 s earlier", async () => {
    stage.open();
    const key = opened.store.keyOf(NAME);
    const frames = [encodeFrame(7, 7, Float32Array.of(5, 6))];
    const send = () =>
      opened.store.run(append, key, {
        ...{ valueType: 0, clock: 0, retentionMs: 60_000, birth: 9, frames, known: "none" as const },
        voidAfterMs: opened.clock.nowMs,
      });
    await send();
    stage.events.push({ t: opened.clock.nowMs, value: 5 }, { t: opened.clock.nowMs, value: 6 });
    for (const waitMs of [0, 1500, 8000]) {
      opened.clock.nowMs += waitMs;
      await stage.put(1);
      await send();
      // The first one lies before some of these windows, its copies in all of them.
      for (const span of [1, 1000, 9000, 60_000]) await stage.check({ span }, stage.reader());
    }
  });

  test("64 percentiles, and a repeated one, in any order", async () => {
    stage.open();
    await stage.put(...Array.from({ length: 500 }, (_, i) => (i * 7919) % 501));
    const percentiles = Array.from({ length: 62 }, (_, i) => ((i * 37) % 62) * 1.6);
    await stage.check({ percentiles: [...percentiles, 50, 50] });
  });
});
