import fc from "fast-check";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SeriesGroup, ShardedSeriesGroup } from "../../src/entries/index.ts";
import { type OpenStore, onRedis } from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";

let opened: OpenStore;
let redis: Redis;
beforeAll(async () => {
  opened = await onRedis();
  redis = opened.client as Redis;
});
afterAll(() => opened.close());

const process = fc.nat(2);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("record" as const), process, label: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("delete" as const), process }) },
  { weight: 3, arbitrary: fc.constant({ kind: "lose names" as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("ask" as const), process }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 900, 6000, 30_000) }),
  },
);

describe.each([
  ["one journal", undefined],
  ["2 shards", 2],
])("in %s", (_, shards) => {
  test("after deletes and losses of names, each event is recorded, and counts once", async () => {
    let [deleted, regrouped] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await opened.clear();
        const open = () =>
          shards
            ? new ShardedSeriesGroup(opened.store, "g", { labels: ["label"], retention: "1h", shards })
            : new SeriesGroup(opened.store, "g", { labels: ["label"], retention: "1h" });
        const groups = [open(), open(), open()];
        let counts: Record<string, number> = {};
        let hasLost = false;
        const ask = async (group: (typeof groups)[number]) => {
          const { rows, degraded } = await group.stats();
          const found = Object.fromEntries(rows.map(({ labels, count }) => [labels.label, count]));
          const total = (each: Record<string, number>) => Object.values(each).reduce((sum, count) => sum + count, 0);
          expect(total(found)).toBe(total(counts));
          if (!degraded) expect(found).toEqual(counts);
          else expect(hasLost).toBe(true);
        };
        for (const each of steps) {
          if (each.kind === "record") {
            const label = `${each.label}`;
            await groups[each.process]!.record(1, { label });
            counts[label] = (counts[label] ?? 0) + 1;
            if (hasLost) regrouped++;
          } else if (each.kind === "delete") {
            await groups[each.process]!.delete();
            if (Object.keys(counts).length > 0) deleted++;
            counts = {};
          } else if (each.kind === "lose names") {
            for (const key of await redis.keys("*:groups")) await redis.del(key);
            hasLost ||= Object.keys(counts).length > 0;
          } else if (each.kind === "ask") await ask(groups[each.process]!);
          else opened.clock.nowMs += each.ms;
        }
        for (const group of [...groups, open()]) {
          await ask(group);
          await group.close();
        }
      }),
      { numRuns: runs(150) },
    );
    expect(deleted).toBeGreaterThan(50);
    expect(regrouped).toBeGreaterThan(50);
  });
});
