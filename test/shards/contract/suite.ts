import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { METHODS } from "../../../src/engine/kernel/percentile/percentile.ts";
import { Series, ShardedSeries, type ShardedSeriesOptions } from "../../../src/entries/index.ts";
import { forceKernel, type KernelName } from "../../../src/entries/kernel.ts";
import { runs } from "../../harness/runs.ts";
import type { MatrixStore } from "../../matrix/open.ts";
import { expectError } from "../../series/contract/stage.ts";
import { type Event, expectStats, inside } from "../../stats/oracle.ts";

const NAME = "api:latency";

/** A random event, of one of several processes. */
const events = fc.array(
  fc.record({
    value: fc.integer({ min: -50, max: 50 }),
    goneMs: fc.constantFrom(0, 0, 1, 7, 40, 25_000),
    process: fc.nat(3),
    /** Its own time, ms before now. */
    agoMs: fc.option(fc.nat(50), { nil: undefined, freq: 5 }),
    /** Calls of the same turn. */
    copies: fc.constantFrom(1, 1, 1, 5),
  }),
  { minLength: 1, maxLength: 40 },
);
const questions = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(["stats", "timeline", "values", "fractionBelow", "ranks", "histogram", "compare"] as const),
    ),
    span: fc.integer({ min: 1, max: 1500 }),
    agoMs: fc.option(fc.nat(60), { nil: undefined }),
    closed: fc.constantFrom("right" as const, "both" as const),
    method: fc.constantFrom(...METHODS),
  }),
  { minLength: 1, maxLength: 6 },
);
type Question = typeof questions extends fc.Arbitrary<(infer T)[]> ? T : never;

/** The promises of a sharded series, over one store and one kernel, on a stepped clock. */
export function shardSuite(name: string, kernel: KernelName, open: () => Promise<MatrixStore>): void {
  describe(`${name}, ${kernel}`, () => {
    let opened: MatrixStore;
    const made: { close(): Promise<void> }[] = [];
    const keep = <One extends { close(): Promise<void> }>(one: One): One => {
      made.push(one);
      return one;
    };
    const sharded = (shards: number, store = opened.store, options: ShardedSeriesOptions = {}) =>
      keep(new ShardedSeries(store, NAME, { retention: "1m", ...opened.modes, ...options, shards }));
    const end = async () => {
      await Promise.all(made.splice(0).map((each) => each.close()));
    };
    beforeAll(async () => {
      forceKernel(kernel);
      opened = await open();
      vi.spyOn(Date, "now").mockImplementation(() => opened.clock.nowMs);
    });
    beforeEach(async () => {
      await end();
      await opened.clear();
    });
    afterAll(async () => {
      await end();
      forceKernel(null);
      vi.restoreAllMocks();
      await opened?.close();
    });

    async function ask(series: ShardedSeries, { kind, span, agoMs, closed, method }: Question, nowMs: number) {
      const window = { span, closed, ...(agoMs !== undefined && { at: nowMs - agoMs }) };
      switch (kind) {
        case "stats":
          return series.stats({ ...window, method, percentiles: [0, 50, 99.9] });
        case "timeline":
          return series.timeline({ ...window, method, every: Math.max(1, Math.floor(span / 3)) });
        case "values":
          return [...(await series.values(window))].sort((a, b) => a - b);
        case "fractionBelow":
          return series.fractionBelow(3, window);
        case "ranks":
          return series.ranks([-7, 3], window);
        case "histogram":
          return series.histogram({ ...window, bounds: [-7, 3] });
        case "compare":
          return series.compare({ ...window, method, before: 40 });
      }
    }

    /** Compares an answer with its definition. */
    function check(
      answer: unknown,
      { kind, span, agoMs, closed, method }: Question,
      all: Event[],
      nowMs: number,
    ): void {
      const toMs = nowMs - (agoMs ?? 0);
      const values = inside(all, toMs - span, toMs, closed);
      const below = (limit: number) => values.filter((value) => value < limit).length;
      const atMost = (limit: number) => values.filter((value) => value <= limit).length;
      switch (kind) {
        case "stats":
          expect(answer).toMatchObject({ from: toMs - span, to: toMs, degraded: false });
          expectStats(answer as never, values, { method, percentiles: [0, 50, 99.9] });
          break;
        case "timeline": {
          const { times, ends, counts, sums, maxima } = answer as Awaited<ReturnType<ShardedSeries["timeline"]>>;
          expect(ends.at(-1)).toBe(toMs);
          for (const [i, fromMs] of times.entries()) {
            const its = inside(all, fromMs, ends[i]!, closed);
            expect([counts[i], sums[i]]).toEqual([its.length, its.reduce((sum, value) => sum + value, 0)]);
            expect(maxima[i]! + 0).toBe(its.length === 0 ? Number.NaN : Math.max(...its) + 0);
          }
          break;
        }
        case "values":
          expect(answer).toEqual(values.sort((a, b) => a - b));
          break;
        case "fractionBelow":
          expect(answer).toBe(below(3) / values.length);
          break;
        case "ranks":
          expect(answer).toMatchObject({
            below: Float64Array.of(below(-7), below(3)),
            atMost: Float64Array.of(atMost(-7), atMost(3)),
          });
          break;
        case "histogram":
          expect(answer).toMatchObject({
            counts: Float64Array.of(atMost(-7), atMost(3) - atMost(-7), values.length - atMost(3)),
            count: values.length,
          });
          break;
        case "compare": {
          const { current, earlier } = answer as Awaited<ReturnType<ShardedSeries["compare"]>>;
          expectStats(current as never, values, { method });
          expectStats(earlier as never, inside(all, toMs - 40 - span, toMs - 40, closed), { method });
          break;
        }
      }
    }

    it("answers are those of brute force, whatever the numbers of shards, alone and at once with others", async () => {
      await fc.assert(
        fc.asyncProperty(
          events,
          questions,
          fc.constantFrom([3, 3, 3, 3], [1, 1, 2, 5], [2, 4, 4, 8], [5, 5, 7, 7]),
          async (given, asked, numbers) => {
            await end();
            await opened.clear();
            const recorded: Event[] = [];
            const plain = keep(new Series(opened.store, NAME, { retention: "1m", ...opened.modes }));
            // Processes with more shards come later. The first one has none.
            const processes = numbers.map((shards, i) => sharded(shards, i % 2 ? opened.other : opened.store));
            const order = [...given].sort((one, other) => one.process - other.process);
            for (const { value, goneMs, process, agoMs, copies } of order) {
              opened.clock.nowMs += goneMs;
              const t = opened.clock.nowMs - (agoMs ?? 0);
              const options = agoMs === undefined ? undefined : { at: t };
              const writer = process === 0 ? plain : processes[process]!;
              await Promise.all(Array.from({ length: copies }, () => writer.record(value, options)));
              for (let i = 0; i < copies; i++) recorded.push({ t, value });
            }
            const { nowMs } = opened.clock;
            for (const series of [...processes, sharded(numbers[0]!)]) {
              const answers = await Promise.all(asked.map((question) => ask(series, question, nowMs)));
              for (const [i, answer] of answers.entries()) {
                check(answer, asked[i]!, recorded, nowMs);
                expect(await ask(series, asked[i]!, nowMs)).toEqual(answer);
              }
            }
          },
        ),
        { numRuns: runs(15) },
      );
    });

    it("a process records in every shard, one for each turn", async () => {
      const series = sharded(4);
      for (let turn = 0; turn < 8; turn++)
        await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 ? series.record(i) : series.recordMany([i, i]))));
      const journals = (await opened.keys()).filter((key) => key.endsWith(":shard"));
      expect(journals.length).toBe(4);
      expect((await series.stats()).count).toBe(8 * 15);
      const frames = await Promise.all(journals.map(async (key) => (await opened.bytesOf(key))!.length));
      expect(Math.max(...frames)).toBe(Math.min(...frames));
    });

    it("recordAndGet has its own event, and every event that was acknowledged before", async () => {
      const [one, other] = [sharded(3), sharded(3, opened.other)];
      let known = 0;
      for (let turn = 0; turn < 6; turn++) {
        const answers = await Promise.all(
          Array.from({ length: 9 }, (_, i) =>
            (i % 2 ? one : other).recordAndGet(9 * turn + i, { percentiles: [0, 100] }),
          ),
        );
        for (const { count } of answers) expect(count).toBeGreaterThan(known);
        expect(Math.max(...answers.map(({ count }) => count))).toBeGreaterThanOrEqual(known + 5);
        known += 9;
        expect(await one.stats({ percentiles: [] })).toMatchObject({ count: known, max: known - 1, degraded: false });
      }
      const { count } = await other.recordAndGet(-1, { at: opened.clock.nowMs - 500 });
      expect(count).toBe(known + 1);
    });

    it("fewer shards are refused while more are in use, and nothing is written", async () => {
      const [four, running] = [sharded(4), sharded(2, opened.other)];
      await running.record(0);
      await four.record(1);
      const before = await Promise.all((await opened.keys()).map(async (key) => [key, await opened.expiryOf(key)]));
      const late = sharded(2, opened.other);
      for (const call of [() => late.record(2), () => late.recordMany([2]), () => late.recordAndGet(2)]) {
        const text = /other processes record in 4 shards, and this one in 2; name as many, or begin 60 s after/;
        expect(await expectError(call(), "MISMATCH", text)).toMatchObject({ applied: "no" });
      }
      expect(await Promise.all((await opened.keys()).map(async (key) => [key, await opened.expiryOf(key)]))).toEqual(
        before,
      );
      // One that was there before goes on. Each finds the events of all.
      await running.record(3);
      for (const series of [running, four, late]) expect((await series.stats()).count).toBe(3);
      opened.clock.nowMs += 50_000;
      await running.record(4);
      opened.clock.nowMs += 9_999;
      await expectError(late.record(5), "MISMATCH");
      opened.clock.nowMs += 1;
      await late.record(5);
      expect((await sharded(2).stats()).count).toBe(2);
      await sharded(8).record(6);
    });

    it("with clock event the window ends at the largest time of all shards", async () => {
      const series = sharded(3, opened.store, { clock: "event" });
      const recorded: Event[] = [];
      for (const [i, agoMs] of [900, 500, 700, 100, 0, 400, 50].entries()) {
        const t = opened.clock.nowMs - 10_000 - agoMs;
        await series.record(i, { at: t });
        recorded.push({ t, value: i });
        const toMs = Math.max(...recorded.map((event) => event.t));
        for (const one of [series, sharded(3, opened.other, { clock: "event" })]) {
          const answer = await one.stats({ span: 300 });
          expect(answer.to).toBe(toMs);
          expectStats(answer as never, inside(recorded, toMs - 300, toMs));
        }
        const own = await series.recordAndGet(i, { at: t, span: 300 });
        recorded.push({ t, value: i });
        expectStats(own as never, inside(recorded, toMs - 300, toMs));
      }
    });

    it("a deleted series is empty for all, with and without shards", async () => {
      const plain = keep(new Series(opened.store, NAME, { retention: "1m", ...opened.modes }));
      await plain.record(1);
      const [one, other] = [sharded(2), sharded(5, opened.other)];
      await one.record(2);
      await other.record(3);
      expect((await one.stats()).count).toBe(3);
      await one.delete();
      for (const series of [plain, one, other]) expect((await series.stats()).count).toBe(0);
      await one.record(4);
      expect((await other.stats()).count).toBe(1);
    });

    it("after close every call is refused, and earlier events are written", async () => {
      const series = sharded(3);
      const last = series.record(5);
      await series.close();
      await last;
      for (const call of [
        () => series.record(1),
        () => series.record(1, { at: opened.clock.nowMs }),
        () => series.recordMany([1]),
        () => series.recordAndGet(1),
        () => series.stats(),
        () => series.values(),
        () => series.fractionBelow(1),
        () => series.ranks([1]),
        () => series.histogram({ bounds: [1] }),
        () => series.timeline({ every: 1000 }),
        () => series.compare({ span: 1, before: 1 }),
        () => series.delete(),
      ])
        await expectError(call(), "UNAVAILABLE", /the series is closed/);
      await series.close();
      expect(await sharded(3).values()).toHaveLength(1);
    });
  });
}
