import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  Series,
  SeriesGroup,
  ShardedSeries,
  ShardedSeriesGroup,
  type ShardedSeriesGroupOptions,
} from "../../../src/entries/index.ts";
import { forceKernel, type KernelName } from "../../../src/entries/kernel.ts";
import { expectRows, type LabelledEvent, rowsByHand } from "../../groups/contract/oracle.ts";
import { runs } from "../../harness/runs.ts";
import type { MatrixStore } from "../../matrix/open.ts";
import { expectError } from "../../series/contract/stage.ts";

type Options = Partial<ShardedSeriesGroupOptions<readonly ["route"]>>;

const OTHER = JSON.stringify({ route: "_other" });

/** The promises that a group has because of its shards. Those of every group are in `groupSuite`. */
export function shardedGroupSuite(name: string, kernel: KernelName, open: () => Promise<MatrixStore>): void {
  describe(`${name}, ${kernel}, shards`, () => {
    let opened: MatrixStore;
    const made: { close(): Promise<void> }[] = [];
    const groupOn = (shards: number, store = opened.store, options: Options = {}) => {
      const all = { labels: ["route"], retention: "1m", ...opened.modes, ...options, shards } as const;
      const group = new ShardedSeriesGroup(store, "g", all);
      made.push(group);
      return group;
    };
    const end = () => Promise.all(made.splice(0).map((each) => each.close()));
    beforeAll(async () => {
      forceKernel(kernel);
      opened = await open();
      vi.spyOn(Date, "now").mockImplementation(() => opened.clock.nowMs);
      vi.spyOn(process, "emitWarning").mockImplementation(() => {});
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

    const events = fc.array(
      fc.record({
        value: fc.integer({ min: -50, max: 50 }),
        route: fc.integer({ min: 0, max: 5 }).map((i) => (i === 5 ? "_other" : `/${i}`)),
        process: fc.nat(3),
        goneMs: fc.constantFrom(0, 0, 5),
        /** Calls of the same turn. */
        copies: fc.constantFrom(1, 1, 4),
      }),
      { minLength: 1, maxLength: 60 },
    );

    it("with too few groups each row has all events of its group, and _other all the rest", async () => {
      await fc.assert(
        fc.asyncProperty(events, fc.integer({ min: 1, max: 4 }), fc.nat(1000), async (given, maxGroups, seed) => {
          await end();
          await opened.clear();
          let drawn = seed;
          const options = { maxGroups, entropy: () => drawn++ };
          const stores = [opened.store, opened.other];
          const processes = Array.from({ length: 4 }, (_, i) => groupOn(i < 2 ? 3 : 2 + i, stores[i % 2], options));
          const recorded: LabelledEvent[] = [];
          // None begins with fewer shards than are in use.
          for (const [i, group] of processes.entries()) {
            await group.record(i, { route: `/${i % 2}` });
            recorded.push({ t: opened.clock.nowMs, value: i, labels: { route: `/${i % 2}` } });
          }
          for (const { value, route, process, goneMs, copies } of given) {
            opened.clock.nowMs += goneMs;
            const labels = { route };
            await Promise.all(Array.from({ length: copies }, () => processes[process]!.record(value, labels)));
            for (let i = 0; i < copies; i++) recorded.push({ t: opened.clock.nowMs, value, labels });
          }
          for (const group of [...processes, groupOn(3, opened.store, options)]) {
            const answer = await group.stats();
            expect(answer.degraded).toBe(false);
            const byHand = rowsByHand(recorded, answer.from, answer.to, { by: ["route"] });
            const kept = new Set(answer.rows.map(({ labels }) => labels.route));
            expect(answer.others).toBe(answer.rows.find(({ labels }) => labels.route === "_other")?.count ?? 0);
            const seen = recorded.map((event) =>
              kept.has(event.labels.route!) ? event : { ...event, labels: { route: "_other" } },
            );
            expectRows(answer, seen, { by: ["route"] });
            // As long as all have a place, none counts as _other.
            byHand.delete(OTHER);
            if (byHand.size <= maxGroups) expect(kept.size - (kept.has("_other") ? 1 : 0)).toBe(byHand.size);
          }
        }),
        { numRuns: runs(15) },
      );
    });

    it("a reader that knew of room in a shard learns that it is full", async () => {
      const of = (first: number, store = opened.store) => groupOn(2, store, { maxGroups: 2, entropy: () => first });
      // They record in the two shards by turns. One begins with the first, the other with the second.
      const [one, other, reader] = [of(0), of(1), of(0, opened.other)];
      await one.record(1, { route: "/a" });
      await other.record(2, { route: "/c" });
      expect((await reader.stats()).rows.length).toBe(2);
      opened.clock.nowMs += 1000;
      await one.record(3, { route: "/a" }, { at: opened.clock.nowMs - 500 });
      await one.record(3, { route: "/b" }, { at: opened.clock.nowMs - 500 });
      await other.record(4, { route: "/c" }); // the first shard has no room for it
      await other.record(5, { route: "/c" });
      expect(await reader.stats({ span: 100 })).toMatchObject({
        others: 2,
        degraded: false,
        rows: [{ labels: { route: "_other" }, count: 2, sum: 9 }],
      });
    });

    it("more shards, and the group without shards, need no migration", async () => {
      const plain = new SeriesGroup(opened.store, "g", { labels: ["route"], retention: "1m", ...opened.modes });
      made.push(plain);
      await plain.record(1, { route: "/a" });
      const [two, four] = [groupOn(2), groupOn(4, opened.other)];
      for (let i = 0; i < 4; i++) {
        await two.record(2, { route: "/a" });
        await four.record(3, { route: i % 2 ? "/a" : "/b" });
      }
      for (const group of [two, four])
        expect((await group.stats()).rows).toMatchObject([
          { labels: { route: "/a" }, count: 7, sum: 15 },
          { labels: { route: "/b" }, count: 2, sum: 6 },
        ]);
      await expectError(groupOn(2).record(1, { route: "/a" }), "MISMATCH", /other processes record in 4 shards/);
      await two.delete();
      for (const group of [plain, two, four]) expect((await group.stats()).rows).toEqual([]);
    });

    it("events of another kind without shards refuse it before anything is written", async () => {
      const others = [
        () => new SeriesGroup(opened.store, "g", { labels: ["code"], retention: "1m", ...opened.modes }),
        () => new Series(opened.store, "g", { retention: "1m", ...opened.modes }),
      ];
      for (const open of others) {
        await opened.clear();
        const other = open();
        made.push(other);
        await (other instanceof Series ? other.record(1) : other.record(1, { code: "200" }));
        const before = await opened.keys();
        const message = other instanceof Series ? /float32 values/ : /the labels code; they were opened with route/;
        const series = new ShardedSeries(opened.other, "g", {
          ...opened.modes,
          retention: "1m",
          shards: 2,
          values: "float64",
        });
        made.push(series);
        for (const record of [() => groupOn(2).record(2, { route: "/a" }), () => series.record(2)])
          await expect(record()).rejects.toMatchObject({ code: "MISMATCH", applied: "no" });
        await expectError(groupOn(2).record(2, { route: "/a" }), "MISMATCH", message);
        expect(await opened.keys()).toEqual(before);
      }
    });

    it("a process records in every shard, one for each turn", async () => {
      const group = groupOn(4);
      for (let turn = 0; turn < 8; turn++)
        await Promise.all(Array.from({ length: 10 }, (_, i) => group.record(i, { route: `/${i % 3}` })));
      const journals = (await opened.keys()).filter((key) => key.endsWith(":shard"));
      const lengths = await Promise.all(journals.map(async (key) => (await opened.bytesOf(key))!.length));
      expect(new Set(lengths).size).toBe(1);
      expect(lengths.length).toBe(4);
      expect((await group.stats({ by: [] })).rows).toMatchObject([{ count: 80 }]);
    });
  });
}
