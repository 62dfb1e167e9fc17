import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { announce, keysOf } from "../../src/store/registry/steps/announce.ts";
import { list } from "../../src/store/registry/steps/list.ts";
import { type Call, type OpenStore, onHttp, onMemory, onRedis, playAlike } from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";

const BASE = "oriel:{registry}";
let stores: OpenStore[];
beforeAll(async () => {
  stores = [await onRedis(), await onMemory(), await onHttp()];
});
afterAll(() => Promise.all(stores.map((each) => each.close())));

const json = fc.constantFrom("{}", '{"span":1}', '{"span":2}', '{"é":"𝄞\\n"}');
const structure = fc.record({
  field: fc.constantFrom('Series "a"', 'Series "b"', 'Limiter "a"', 'Lock "é𝄞"'),
  shared: json,
  settings: json,
});
const step: fc.Arbitrary<Call> = fc.oneof(
  fc
    .record({
      process: fc.constantFrom("web-1:1:a", "web-2:7:b", "c"),
      version: fc.constantFrom("0.1.0", "0.2.0"),
      record: json,
      structures: fc.uniqueArray(structure, { maxLength: 4, selector: ({ field }) => field }),
    })
    .map(
      (input): Call =>
        (store) =>
          store.run(announce, BASE, input),
    ),
  fc.constantFrom(...keysOf(BASE).filter((key) => !key.endsWith("times"))).map(
    (key): Call =>
      async (store) => {
        const { entries, ...page } = await store.run(list, key, "0");
        return { ...page, entries: new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1))) };
      },
  ),
);

test("all forms have equal answers and expiries for any sequence of announcements and listings", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(0, 1, 1000, 60_000, 149_999, 150_000, 3_600_001, 604_800_001), step), {
        minLength: 5,
        maxLength: 40,
      }),
      (calls) => playAlike(stores, calls),
    ),
    { numRuns: runs(Number(process.env.ORIEL_RUNS ?? 30)) },
  );
});

test("the bound removes the entries that were announced longest ago, and never the new ones", async () => {
  for (const { store, clock, clear } of stores) {
    await clear();
    const startMs = clock.nowMs;
    const announced: string[] = [];
    // Few large announcements up to the bound, and small ones over it.
    for (let from = 0, added = 980; from < 10_150; from += added) {
      if (from === 9800) added = 50;
      const fields = Array.from({ length: added }, (_, i) => `Series ${String(from + i).padStart(5, "0")}`);
      clock.nowMs++;
      const structures = fields.map((field) => ({ field, shared: "{}", settings: "{}" }));
      await store.run(announce, BASE, { process: "p", version: "1", record: "{}", structures });
      announced.push(...fields);
    }
    const found = new Set<string>();
    let cursor = "0";
    do {
      const page = await store.run(list, `${BASE}:structures`, cursor);
      for (const [field] of page.entries) found.add(field);
      cursor = page.cursor;
    } while (cursor !== "0");
    clock.nowMs = startMs;
    expect([...found].sort()).toEqual(announced.slice(-10_000));
  }
});

test("foreign values under the keys are CORRUPT or left out, and the registry's other keys stay", async () => {
  const [{ store, client, clear }] = stores as [OpenStore, ...OpenStore[]];
  const input = {
    process: "p",
    version: "1",
    record: "{}",
    structures: [{ field: "Series a", shared: "{}", settings: "{}" }],
  };
  for (const key of keysOf(BASE)) {
    await clear();
    await client!.set(key, "foreign");
    await expect(store.run(announce, BASE, input)).rejects.toMatchObject({ code: "CORRUPT" });
    expect(await client!.keys("*")).toEqual([key]);
  }
  await clear();
  await client!.hset(`${BASE}:structures`, "Series a", "foreign\n\n\xff");
  expect(await store.run(announce, BASE, input)).toMatchObject({ others: [undefined] });
});
