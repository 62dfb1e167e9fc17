import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actions } from "../../src/operate/history/steps/actions.ts";
import { count } from "../../src/operate/history/steps/count.ts";
import { denied } from "../../src/operate/history/steps/denied.ts";
import { lines } from "../../src/operate/history/steps/lines.ts";
import { type OpenStore, onHttp, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";

let stores: OpenStore[];
beforeAll(async () => {
  stores = [await onRedis(), await onRedis(true), await onMemory(), await onHttp()];
});
afterAll(() => Promise.all(stores.map((each) => each.close())));

/** Steps the clocks of all stores, runs one step on each, and compares the answers. Returns the answer. */
async function onAll<Answer>(nowMs: number, run: (each: OpenStore) => Promise<Answer>): Promise<Answer> {
  for (const { clock } of stores) clock.nowMs = nowMs;
  const [first, ...others] = await Promise.all(stores.map(run));
  for (const other of others) expect(other).toEqual(first);
  return first!;
}

test("lists are the same in all forms after any lines, over the bound and the expiry", async () => {
  const line = fc.constantFrom("", "a", "b", '{"target":"é𝄞"}', ...["x", "é"].map((letter) => letter.repeat(9000)));
  const goneMs = fc.constantFrom(0, 1, 60_000, 7_776_000_000, 7_776_000_001);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(goneMs, line, fc.boolean(), fc.nat(30)), { minLength: 3, maxLength: 30 }),
      async (steps) => {
        for (const each of stores) await each.clear();
        let { nowMs } = stores[0]!.clock;
        for (const [ms, text, isWanted, tail] of steps) {
          nowMs += ms;
          const input = { line: text === "" ? "" : `${text}${tail}`, isWanted };
          const { list } = await onAll(nowMs, ({ store }) => store.run(lines, store.keyOf("a list"), input));
          expect(new TextEncoder().encode(list).length).toBeLessThanOrEqual(65_536);
          if (isWanted && input.line !== "") expect(list).toContain(` ${input.line}\n`);
        }
      },
    ),
    { numRuns: runs(25) },
  );
});

test("streams of actions are the same in all forms after any entries, the expiry and a step of the clock", async () => {
  const text = fc.constantFrom("", "a", "é𝄞", "\ud800", "\u0000", "x".repeat(600));
  const goneMs = fc.constantFrom(0, 0, 1, 60_000, -60_000, 7_776_000_001);
  const step = fc.tuple(goneMs, fc.option(fc.tuple(fc.nat(20), text)), fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 40 }), async (steps) => {
      for (const each of stores) await each.clear();
      let { nowMs } = stores[0]!.clock;
      for (const [ms, added, isWanted] of steps) {
        nowMs += ms;
        const entry = added ? { id: String(added[0]), target: added[1] } : undefined;
        const found = await onAll(nowMs, ({ store }) =>
          store.run(actions, store.keyOf("actions"), { entry, isWanted }),
        );
        if (entry && isWanted) expect(found.slice(0, 16).map(([, fields]) => fields.id)).toContain(entry.id);
      }
    }),
    { numRuns: runs(20) },
  );
});

test("the oldest actions are removed above 1000 entries", async () => {
  for (const each of stores) await each.clear();
  const found = await onAll(stores[0]!.clock.nowMs, async ({ store }) => {
    const add = (id: string, isWanted: boolean) =>
      store.run(actions, store.keyOf("actions"), { entry: { id }, isWanted });
    await Promise.all(Array.from({ length: 1010 }, (_, i) => add(String(i), false)));
    return add("last", true);
  });
  expect(found.map(([, { id }]) => id)).toEqual(["last", ...Array.from({ length: 999 }, (_, i) => String(1009 - i))]);
});

test("an action that is sent again is not added again", async () => {
  for (const each of stores) await each.clear();
  const { nowMs } = stores[0]!.clock;
  const add = (id: string) =>
    onAll(nowMs, ({ store }) =>
      store.run(actions, store.keyOf("actions"), { entry: { id, outcome: "done" }, isWanted: true }),
    );
  await add("a");
  for (let i = 0; i < 15; i++) await add(`b${i}`);
  expect((await add("a")).map(([, { id }]) => id).filter((id) => id === "a")).toHaveLength(1);
  await add("c");
  expect((await add("a")).map(([, { id }]) => id).filter((id) => id === "a")).toHaveLength(2);
});

test("counts are the same in all forms, and each bin has what was added in it, over the round and steps of the clock", async () => {
  const added = fc.constantFrom(0, 1, 2, 1000, 2 ** 40);
  const bins = fc.constantFrom(0, 1, 2, 30, 1079, 1080, 5000);
  const goneMs = fc.constantFrom(0, 1, 9999, 10_000, 25_000, 10_790_000, 10_800_000, 10_800_001, -60_000);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(goneMs, added, bins), { minLength: 3, maxLength: 25 }), async (steps) => {
      for (const each of stores) await each.clear();
      let nowMs = 1.9e12;
      const truth = new Map<number, number>();
      for (const [ms, more, wanted] of steps) {
        nowMs += ms;
        const found = await onAll(nowMs, async ({ store }) => {
          const read = await store.run(count, store.keyOf("ring"), { added: more, bins: wanted });
          return { ...read, bins: [...read.bins].sort((a, b) => a.number - b.number) };
        });
        const current = Math.floor(nowMs / 10_000);
        if (more > 0) truth.set(current, (truth.get(current) ?? 0) + more);
        expect(found.nowMs).toBe(nowMs);
        for (const bin of found.bins) expect(bin.count).toBeLessThanOrEqual(truth.get(bin.number) ?? 0);
        if (more > 0 && wanted > 0) expect(found.bins.map(({ number }) => number)).toContain(current);
        if (wanted === 0) expect(found.bins).toEqual([]);
        const isForward = steps.every(([each]) => each >= 0);
        if (!isForward) continue;
        const shown = found.bins.filter(({ number }) => number > current - Math.min(1080, wanted));
        const all = [...truth].filter(([number]) => number > current - Math.min(1080, wanted));
        expect(shown.map((bin) => [bin.number, bin.count])).toEqual(all);
      }
    }),
    { numRuns: runs(40) },
  );
});

test("a ring expires when its last bin is too old", async () => {
  for (const each of stores) await each.clear();
  const { nowMs } = stores[0]!.clock;
  await onAll(nowMs, ({ store }) => store.run(count, store.keyOf("ring"), { added: 1, bins: 0 }));
  for (const each of stores) expect([...(await each.expiries()).values()]).toEqual([nowMs + 10_800_000]);
});

test("a value that is no ring of counts is CORRUPT, and the error names its key", async () => {
  for (const { store, clear } of stores)
    for (const added of [0, 1]) {
      await clear();
      const key = store.keyOf("ring");
      await store.run(lines, key, { line: "foreign!", isWanted: false }); // of a length that no ring has
      const call = store.run(count, key, { added, bins: 1 });
      await expect(call).rejects.toMatchObject({ code: "CORRUPT", applied: "no" });
      await expect(call).rejects.toThrow(`"${key}" is damaged`);
    }
});

const SLOT_MS = 600_000;

test("denied ids are the same in all forms, and equal the sums of the last 60 to 70 minutes", async () => {
  const id = fc.constantFrom("a", "b", "", "203.0.113.7", "é𝄞", "\u{10FFFF}", "\uFFFD", "\uFEFFbom", "x".repeat(300));
  const added = fc.array(fc.tuple(id, fc.constantFrom(1, 2, 1000, 2 ** 40)), { maxLength: 5 });
  const goneMs = fc.constantFrom(0, 1, 59_999, SLOT_MS, 5 * SLOT_MS, 6 * SLOT_MS, 7 * SLOT_MS, -60_000);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(goneMs, added), { minLength: 3, maxLength: 25 }), async (steps) => {
      for (const each of stores) await each.clear();
      let { nowMs } = stores[0]!.clock;
      const written: { slot: number; id: string; count: number }[] = [];
      for (const [ms, counts] of steps) {
        nowMs += Math.max(0, ms);
        const slot = Math.floor(nowMs / SLOT_MS);
        const batch = new Map(counts);
        for (const [each, count] of batch) {
          const shown = each.length > 256 ? `${each.slice(0, 256)}…` : each;
          written.push({ slot, id: shown, count });
        }
        const run = (each: Map<string, number>, isWanted: boolean) =>
          onAll(nowMs, ({ store }) => store.run(denied, store.keyOf("ids"), { added: each, isWanted }));
        if (batch.size > 0) await run(batch, false);
        const found = await run(new Map(), true);
        const sums = new Map<string, number>();
        for (const each of written) if (each.slot > slot - 7) sums.set(each.id, (sums.get(each.id) ?? 0) + each.count);
        expect(new Map(found)).toEqual(sums);
        const order = [...found.values()];
        expect(order).toEqual([...order].sort((a, b) => b - a));
      }
    }),
    { numRuns: runs(40) },
  );
});

test("above 1000 ids of a slot, those with the fewest denials are removed, in all forms the same", async () => {
  const { nowMs } = stores[0]!.clock;
  for (const each of stores) await each.clear();
  const idOf = (i: number) => `${i % 3 === 0 ? "é" : i % 3 === 1 ? "𝄞" : "\uFFFD"}${i}`;
  const add = (from: number, to: number, count: (i: number) => number) => {
    const added = new Map(Array.from({ length: to - from }, (_, i) => [idOf(from + i), count(from + i)]));
    return onAll(nowMs, ({ store }) => store.run(denied, store.keyOf("many"), { added, isWanted: true }));
  };
  expect((await add(0, 1000, () => 1)).size).toBe(1000);
  const found = await add(1000, 1400, (i) => (i % 2 === 0 ? 1 : 5));
  expect(found.size).toBe(1000);
  expect([...found.values()].filter((count) => count === 5)).toHaveLength(200);
});

test("a value of another kind is no stream of actions, and the error names its key", async () => {
  for (const { store, clear } of stores) {
    await clear();
    const key = store.keyOf("actions");
    await store.run(lines, key, { line: "foreign", isWanted: false });
    for (const entry of [undefined, { id: "a" }])
      await expect(store.run(actions, key, { entry, isWanted: true })).rejects.toMatchObject({
        code: "CORRUPT",
        applied: "no",
        message: expect.stringContaining(`"${key}" is damaged`),
      });
  }
});

test("a value of another kind in any slot is CORRUPT, and the error names its key", async () => {
  for (const { store, clear } of stores)
    for (let slot = 0; slot < 7; slot++) {
      await clear();
      const base = store.keyOf("denied");
      await store.run(lines, `${base}:${slot}`, { line: "foreign", isWanted: false });
      for (const added of [new Map(), new Map([["a", 1]])]) {
        const call = store.run(denied, base, { added, isWanted: true });
        await expect(call).rejects.toMatchObject({ code: "CORRUPT", applied: "no" });
        await expect(call).rejects.toThrow(`"${base}:${slot}" is damaged`);
      }
    }
});
