import fc from "fast-check";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SeriesGroup } from "../../src/entries/index.ts";
import { type OpenStore, onRedis } from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";
import { restoreKeys, type Saved, savedKeys } from "./redis-copies.ts";

let opened: OpenStore;
let redis: Redis;
beforeAll(async () => {
  opened = await onRedis();
  redis = opened.client as Redis;
});
afterAll(() => opened.close());

const LABELS = ["a", "b", "c", "d", "e", "f", "g"];
const process = fc.nat(2);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("record" as const), process, label: fc.nat(6) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("ask" as const), process }) },
  { weight: 2, arbitrary: fc.constant({ kind: "save" as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("failover" as const), back: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "lose names" as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 1000, 30_000) }) },
);

test("after failovers and losses, a row has the events of its label, or the answer is degraded", async () => {
  let asked = 0;
  let degraded = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await opened.clear();
      const open = () => new SeriesGroup(opened.store, "g", { labels: ["label"], retention: "1h" });
      const groups = [open(), open(), open()];
      let counts: Record<string, number> = {};
      let hasLost = false;
      const copies: { keys: Saved; counts: Record<string, number>; hasLost: boolean }[] = [];
      const ask = async (group: SeriesGroup<["label"]>) => {
        const answer = await group.stats();
        const found = Object.fromEntries(answer.rows.map(({ labels, count }) => [labels.label, count]));
        asked++;
        if (answer.degraded) degraded++;
        else expect(found).toEqual(counts);
        // Only a loss makes an answer degraded, and no loss takes a whole event, or adds one.
        if (!hasLost && answer.degraded) expect(found).toEqual(counts);
        const total = (rows: Record<string, number>) => Object.values(rows).reduce((sum, count) => sum + count, 0);
        expect(total(found)).toBe(total(counts));
      };
      for (const each of steps) {
        if (each.kind === "record") {
          const label = LABELS[each.label]!;
          await groups[each.process]!.record(1, { label });
          counts[label] = (counts[label] ?? 0) + 1;
        } else if (each.kind === "ask") await ask(groups[each.process]! as never);
        else if (each.kind === "save") copies.push({ keys: await savedKeys(redis), counts: { ...counts }, hasLost });
        else if (each.kind === "failover" && copies.length > 0) {
          const copy = copies.at(-1 - (each.back % copies.length))!;
          await restoreKeys(redis, copy.keys);
          counts = { ...copy.counts };
          hasLost = copy.hasLost;
          copies.splice(copies.indexOf(copy) + 1);
        } else if (each.kind === "lose names") {
          await redis.del("oriel:{g}:groups");
          hasLost ||= Object.keys(counts).length > 0;
        } else if (each.kind === "wait") opened.clock.nowMs += each.ms;
      }
      for (const group of [...groups, open()]) {
        await ask(group as never);
        await group.close();
      }
    }),
    { numRuns: runs(150) },
  );
  expect(degraded).toBeGreaterThan(0);
  expect(asked).toBeGreaterThan(2 * degraded);
});

test("events that had no place in names that are lost make an answer degraded", async () => {
  await opened.clear();
  const group = new SeriesGroup(opened.store, "g", { labels: ["label"], retention: "1h", maxGroups: 1 });
  await group.record(1, { label: "a" });
  opened.clock.nowMs += 60_000;
  await group.record(2, { label: "b" });
  await redis.del("oriel:{g}:groups");
  const reader = new SeriesGroup(opened.store, "g", { labels: ["label"], retention: "1h", maxGroups: 1 });
  for (const one of [group, reader]) {
    const { rows, ...answer } = await one.stats({ span: "30s" });
    expect(rows).toMatchObject([{ labels: { label: "_other" }, count: 1 }]);
    expect(answer).toMatchObject({ others: 1, degraded: true, degradedBy: "lost" });
    expect(await one.stats({ span: "1s", at: opened.clock.nowMs - 30_000 })).toMatchObject({
      rows: [],
      degraded: false,
    });
    await one.close();
  }
});

test("a group that had no place has one in names that others have begun anew", async () => {
  await opened.clear();
  const open = () => new SeriesGroup(opened.store, "g", { labels: ["label"], retention: "1m", maxGroups: 2 });
  const [group, other] = [open(), open()];
  for (const label of ["a", "b"]) await group.record(1, { label });
  opened.clock.nowMs += 600_000; // all is gone
  await other.record(2, { label: "c" });
  await group.record(3, { label: "c" });
  for (const one of [group, other]) {
    expect(await one.stats()).toMatchObject({
      rows: [{ labels: { label: "c" }, count: 2 }],
      others: 0,
      degraded: false,
    });
    await one.close();
  }
});
