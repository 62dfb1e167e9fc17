import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  OrielError,
  Series,
  SeriesGroup,
  type SeriesGroupOptions,
  ShardedSeries,
  ShardedSeriesGroup,
} from "../../../src/entries/index.ts";
import { forceKernel, type KernelName } from "../../../src/entries/kernel.ts";
import { runs } from "../../harness/runs.ts";
import type { MatrixStore } from "../../matrix/open.ts";
import { type AskedRows, expectRows, type LabelledEvent, rowsByHand } from "./oracle.ts";

const LABELS = ["route", "method"] as const;
type Names = typeof LABELS;
const ROUTES = ["/a", "/b", "/c", "", "ü \u0000", "_other"];
const METHODS = ["GET", "PUT"];

type Group = SeriesGroup<Names> | ShardedSeriesGroup<Names>;

/** The promises of a group, over one store and one kernel, on a stepped clock. `shards`: undefined for a group without them. */
export function groupSuite(name: string, kernel: KernelName, open: () => Promise<MatrixStore>, shards?: number): void {
  describe(`${name}, ${kernel}`, () => {
    let opened: MatrixStore;
    const made: { close(): Promise<void> }[] = [];
    const groupOn = (store = opened.store, options: Partial<SeriesGroupOptions<Names>> = {}): Group => {
      const all: SeriesGroupOptions<Names> = { labels: LABELS, retention: "1m", ...opened.modes, ...options };
      const group = shards ? new ShardedSeriesGroup(store, "g", { ...all, shards }) : new SeriesGroup(store, "g", all);
      made.push(group);
      return group;
    };
    beforeAll(async () => {
      forceKernel(kernel);
      opened = await open();
      vi.spyOn(Date, "now").mockImplementation(() => opened.clock.nowMs);
    });
    beforeEach(async () => {
      await Promise.all(made.splice(0).map((each) => each.close()));
      await opened.clear();
    });
    afterAll(async () => {
      await Promise.all(made.splice(0).map((each) => each.close()));
      forceKernel(null);
      vi.restoreAllMocks();
      await opened?.close();
    });

    const labelled = fc.record({ route: fc.constantFrom(...ROUTES), method: fc.constantFrom(...METHODS) });
    const events = fc.array(
      fc.record({
        value: fc.oneof(
          fc.integer({ min: -50, max: 50 }),
          fc.float({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 }),
        ),
        labels: labelled,
        goneMs: fc.nat(40),
        process: fc.nat(1),
      }),
      { minLength: 1, maxLength: 60 },
    );
    const questions = fc.array(
      fc.record({
        span: fc.integer({ min: 1, max: 1500 }),
        by: fc.constantFrom(undefined, [], ["route"], ["method"], ["method", "route"]),
        match: fc.constantFrom(
          undefined,
          {},
          { method: "GET" },
          { route: ["/a", "/b", "none"] },
          { route: "/c", method: ["PUT"] },
        ),
        percentiles: fc.constantFrom([50, 90, 99], [0, 99.9, 100], []),
        method: fc.constantFrom("linear" as const, "lower" as const, "hazen" as const, "inverted_cdf" as const),
        closed: fc.constantFrom("right" as const, "both" as const),
        ddof: fc.nat(2),
      }),
      { minLength: 1, maxLength: 5 },
    );

    it("rows are those of brute force, for each process, alone and at once with others", async () => {
      await fc.assert(
        fc.asyncProperty(events, questions, async (given, asked) => {
          await opened.clear();
          const [one, other] = [groupOn(), groupOn(opened.other)];
          const recorded: LabelledEvent[] = [];
          for (const { value, labels, goneMs, process } of given) {
            opened.clock.nowMs += goneMs;
            await (process === 0 ? one : other).record(value, labels);
            recorded.push({ t: opened.clock.nowMs, value: Math.fround(value), labels });
          }
          const cold = groupOn();
          for (const group of [one, other, cold]) {
            const answers = await Promise.all(asked.map((question) => group.stats(question)));
            for (const [i, answer] of answers.entries()) {
              expectRows(answer, recorded, asked[i] as AskedRows);
              expect(await group.stats(asked[i]!)).toEqual(answer);
            }
          }
        }),
        { numRuns: 12 },
      );
    });

    it("events of their own times, and of many calls of one turn, count once each", async () => {
      const group = groupOn();
      await group.record(1, { route: "/a", method: "GET" });
      const { to: nowMs } = await group.stats();
      const recorded: LabelledEvent[] = [{ t: nowMs, value: 1, labels: { route: "/a", method: "GET" } }];
      await Promise.all(
        Array.from({ length: 300 }, async (_, i) => {
          const labels = { route: `/${i % 7}`, method: METHODS[i % 2]! };
          const at = i % 3 === 0 ? nowMs - 100 * (i % 5) : undefined;
          recorded.push({ t: at ?? nowMs, value: i, labels });
          await group.record(i, labels, at === undefined ? undefined : { at });
        }),
      );
      for (const span of [1, 150, 5000]) {
        const asked = { span, by: ["route"] as const };
        expectRows(await group.stats(asked), recorded, asked);
      }
      expect((await group.stats({ by: [] })).rows).toMatchObject([{ labels: {}, count: 301 }]);
    });

    it("the first rows by a number are the largest", async () => {
      const group = groupOn();
      const recorded: LabelledEvent[] = [];
      for (let i = 0; i < 200; i++) {
        const labels = { route: `/${i % 11}`, method: METHODS[i % 2]! };
        await group.record((i * 7919) % 1009, labels);
        recorded.push({ t: opened.clock.nowMs, value: (i * 7919) % 1009, labels });
      }
      const { from, to, rows } = await group.top(3, { by: "p90", labels: ["route"], percentiles: [50, 90] });
      const all = (await group.stats({ by: ["route"], percentiles: [90] })).rows.map(
        ({ percentiles }) => percentiles[90],
      );
      expect(rows.map(({ percentiles }) => percentiles[90])).toEqual(all.sort((a, b) => b - a).slice(0, 3));
      const first = await group.top(1, { by: "max", match: { method: "PUT" } });
      const byHand = rowsByHand(recorded, from, to, { match: { method: "PUT" } });
      expect(first.rows[0]!.max).toBe(Math.max(...[...byHand.values()].flat()));
      expect(first.rows.length).toBe(1);
      expect((await group.top(100)).rows.map(({ count }) => count)).toEqual(
        [...rowsByHand(recorded, from, to, {}).values()].map((values) => values.length).sort((a, b) => b - a),
      );
    });

    it("groups above the bound count as _other, in each process", async () => {
      const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      const [one, other] = [groupOn(opened.store, { maxGroups: 3 }), groupOn(opened.other, { maxGroups: 3 })];
      // Each shard has the first three.
      for (let i = 0; i < (shards ?? 1); i++)
        await Promise.all(["/0", "/1", "/2"].map((route) => one.record(i, { route, method: "GET" })));
      await one.delete();
      for (let i = 0; i < 8; i++) await one.record(i, { route: `/${i}`, method: "GET" });
      for (let i = 0; i < 8; i++) await other.record(10 + i, { route: `/${i}`, method: "GET" });
      for (const group of [one, other]) {
        const { rows, others } = await group.stats({ by: ["route"] });
        expect(new Map(rows.map(({ labels, count }) => [labels.route, count]))).toEqual(
          new Map([
            ["_other", 10],
            ["/0", 2],
            ["/1", 2],
            ["/2", 2],
          ]),
        );
        expect(others).toBe(10);
      }
      const texts = warned.mock.calls.map(([text]) => String(text)).filter((text) => text.includes("_other"));
      expect(texts.length).toBe(2);
      warned.mockRestore();
    });

    it("of processes with different bounds each row has all events of its group, and _other all the rest", async () => {
      const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      const bounds = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 2, maxLength: 4 });
      const mixed = fc.array(
        fc.record({
          value: fc.integer({ min: -50, max: 50 }),
          route: fc.integer({ min: 0, max: 7 }).map((i) => (i === 7 ? "_other" : `/${i}`)),
          process: fc.nat(3),
          goneMs: fc.constantFrom(0, 5),
        }),
        { minLength: 20, maxLength: 60 },
      );
      let withOthers = 0;
      await fc.assert(
        fc.asyncProperty(mixed, bounds, async (given, most) => {
          await opened.clear();
          const stores = [opened.store, opened.other];
          const processes = most.map((maxGroups, i) => groupOn(stores[i % 2], { maxGroups }));
          const recorded: LabelledEvent[] = [];
          for (const { value, route, process, goneMs } of given) {
            opened.clock.nowMs += goneMs;
            const labels = { route, method: route === "_other" ? "_other" : "GET" };
            await processes[process % processes.length]!.record(value, labels);
            recorded.push({ t: opened.clock.nowMs, value, labels });
          }
          for (const group of [...processes, groupOn(opened.store, { maxGroups: 1 }), groupOn(opened.other)]) {
            const answer = await group.stats({ by: ["route"] });
            const kept = new Set(answer.rows.map(({ labels }) => labels.route));
            const seen = recorded.map((event) =>
              kept.has(event.labels.route!) ? event : { ...event, labels: { route: "_other", method: "_other" } },
            );
            expectRows(answer, seen, { by: ["route"] });
            expect(answer.degraded).toBe(false);
            if (answer.others > 0) withOthers++;
          }
        }),
        { numRuns: runs(25) },
      );
      expect(withOthers).toBeGreaterThan(0);
      warned.mockRestore();
    });

    it("an event clock ends the window at the latest event", async () => {
      const group = groupOn(opened.store, { clock: "event" });
      const at = opened.clock.nowMs - 500;
      await group.record(1, { route: "/a", method: "GET" }, { at: at - 100 });
      await group.record(2, { route: "/b", method: "GET" }, { at });
      expect(await group.stats({ span: 100 })).toMatchObject({ to: at, rows: [{ labels: { route: "/b" }, count: 1 }] });
    });

    it("NaN follows the policy", async () => {
      const group = groupOn(opened.store, { nan: "ignore" });
      for (const value of [3, Number.NaN, Number.POSITIVE_INFINITY, -0])
        await group.record(value, { route: "/a", method: "GET" });
      await group.record(Number.NaN, { route: "/b", method: "GET" });
      const { rows } = await group.stats({ percentiles: [0, 100] });
      expect(rows[0]).toMatchObject({ count: 3, min: -0, max: Number.POSITIVE_INFINITY });
      expect(rows[0]!.percentiles).toEqual({ 0: -0, 100: Number.POSITIVE_INFINITY });
      const strict = groupOn(opened.store, { nan: "propagate" });
      expect((await strict.stats({ by: [] })).rows).toMatchObject([{ count: 5, mean: Number.NaN }]);
    });

    it("a delete takes the events, and leaves the numbers right", async () => {
      const [one, other] = [groupOn(), groupOn(opened.other)];
      for (const route of ["/a", "/b"]) await one.record(1, { route, method: "GET" });
      await other.stats();
      await one.delete();
      expect((await other.stats()).rows).toEqual([]);
      await other.record(2, { route: "/b", method: "GET" });
      expect((await one.stats()).rows).toMatchObject([{ labels: { route: "/b", method: "GET" }, count: 1, sum: 2 }]);
    });

    it("another kind of series, and other labels, are a mismatch", async () => {
      await groupOn().record(1, { route: "/a", method: "GET" });
      const series = shards
        ? new ShardedSeries(opened.store, "g", { shards })
        : new Series(opened.store, "g", { retention: "1m" });
      made.push(series);
      await expect(series.record(1)).rejects.toMatchObject({ code: "MISMATCH", applied: "no" });
      await expect(series.stats()).rejects.toThrow(/stored with grouped values/);
      const labels = ["method", "route"] as const;
      const others = shards
        ? new ShardedSeriesGroup(opened.store, "g", { labels, shards })
        : new SeriesGroup(opened.store, "g", { labels });
      made.push(others);
      await expect(others.record(1, { route: "/a", method: "GET" })).rejects.toMatchObject({
        ...{ code: "MISMATCH", applied: "no" },
        message: expect.stringContaining(
          "stored with the labels route, method; they were opened with method, route: the order counts",
        ),
      });
      await expect(others.stats()).rejects.toBeInstanceOf(OrielError);
      await opened.clear();
      await series.record(1);
      await expect(groupOn().record(1, { route: "/a", method: "GET" })).rejects.toMatchObject({ code: "MISMATCH" });
    });
  });
}
