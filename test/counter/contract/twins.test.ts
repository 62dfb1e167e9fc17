import fc from "fast-check";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { add } from "../../../src/counters/counter/steps/add.ts";
import { acknowledge, freeze, part, sweep } from "../../../src/counters/counter/steps/generations.ts";
import { look, page } from "../../../src/counters/counter/steps/reads.ts";
import { rebase } from "../../../src/counters/counter/steps/repairs.ts";
import type { Shard } from "../../../src/counters/counter/steps/shard.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { Store } from "../../../src/store/contract.ts";
import { packStrings } from "../../../src/store/message-pack.ts";
import { type OpenStore, onRedis } from "../../harness/clock/stepped-stores.ts";
import { runs } from "../../harness/runs.ts";

const KEY = "{c}:counts";
let redis: OpenStore;
const clock = { nowMs: 0 };
const memory = memoryStore({ clock: () => clock.nowMs });
beforeAll(async () => {
  redis = await onRedis();
});
afterAll(() => redis?.close());

const layout = fc.oneof({ weight: 20, arbitrary: fc.constant("1|4") }, fc.constant("1|8"));
const place = fc.constantFrom("", "1", "2", "3");
const generation = fc.constantFrom(0, 1, 2, 3, 4);
const count = fc.bigInt({ min: 1n, max: 2n ** 61n });
const tail = fc.constantFrom("29000000|a|b", "29000001|%7c|", "-5|ü|x".padEnd(300, "y"));
const field = fc.oneof(
  fc.tuple(generation, tail).map(([number, text]) => `${number}|${text}`),
  fc.constantFrom("w:p", "w:q", "s:a", "@cur", "@layout"),
);
const WHERE = ["3bb2cc3d800.1", ".0"];
type Step = (store: Store) => Promise<unknown>;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        layout,
        fc.constantFrom("w:p", "w:q", "s:a"),
        place,
        place,
        fc.array(fc.tuple(tail, count), { maxLength: 3 }),
        fc.constantFrom("", "", "", WHERE[0]!, WHERE[1]!),
      )
      .map(([layout, mark, before, after, counts, again]) => (store: Store) => {
        const total = counts.reduce((sum, [, each]) => sum + each, 0n);
        const rows = packStrings(counts.flatMap(([text, each]) => [text, `${each}`]));
        return store.run(add, KEY, { layout, mark, before, after: after || "1", total, rows, again });
      }),
  },
  fc.tuple(layout, fc.constantFrom("x", "y")).map(
    ([layout, nonce]) =>
      (store: Store) =>
        store.run(freeze, KEY, { layout, nonce }),
  ),
  fc.tuple(layout, generation, fc.constantFrom("x-4102444800000-b3bb2cc3d800", "y-4102444800000-b3bb2cc3d800")).map(
    ([layout, generation, nonce]) =>
      (store: Store) =>
        store.run(acknowledge, KEY, { layout, generation, nonce }),
  ),
  fc
    .tuple(
      layout,
      fc
        .uniqueArray(field)
        .chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), place))))
        .map((all) => all.flat()),
    )
    .map(
      ([layout, fields]) =>
        (store: Store) =>
          store.run(sweep, KEY, { layout, fields }),
    ),
  fc.tuple(layout, fc.constantFrom("3 x", "4 y")).map(
    ([layout, ledger]) =>
      (store: Store) =>
        store.run(part, KEY, { layout, ledger }),
  ),
  fc.constant((store: Store) => store.run(look, KEY, null)),
  fc
    .tuple(
      layout,
      generation,
      fc.option(generation, { nil: undefined }),
      fc.constantFrom(0, 4102444800000),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([layout, ledger, leftOut, ledgerBornMs, mends, isStale]) => async (store: Store) => {
      const { born = "", base = "0", acknowledged = "0", generations } = await store.run(look, KEY, null);
      const seen = isStale ? `${born} 9 9` : `${born} ${base} ${acknowledged}`;
      const sums = mends ? generations.slice(0, -1).flatMap(({ number, sum }) => [`${number}`, sum, "7"]) : [];
      return store.run(rebase, KEY, { layout, seen, ledger, leftOut, ledgerBornMs, sums });
    }),
  fc.tuple(layout).map(([layout]) => async (store: Store) => {
    const { fields, ...rest } = await store.run(page, KEY, { layout, cursor: "0", count: 1000 });
    return { ...rest, fields: Object.entries(Object.fromEntries(pairs(fields))).sort() };
  }),
);
const pairs = (fields: readonly string[]) =>
  Array.from({ length: fields.length / 2 }, (_, i) => fields.slice(2 * i, 2 * i + 2));

test("both forms have equal answers and fields at every step of any trace", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, fc.constantFrom(0, 1, 3_600_000)), { maxLength: 40 }), async (steps) => {
      await redis.clear();
      memory.clear();
      clock.nowMs = redis.clock.nowMs;
      for (const [run, waitMs] of steps) {
        clock.nowMs = redis.clock.nowMs += waitMs;
        const [there, here] = await Promise.all(
          [redis.store, memory].map((store) =>
            run(store).catch(({ code, message }) => (code === "CORRUPT" ? code : { code, message })),
          ),
        );
        expect(there).toEqual(here);
        const fields = await (redis.client as Redis).hgetall(KEY);
        expect(fields).toEqual(Object.fromEntries((memory.entryOf(KEY)?.value as Shard | undefined)?.fields ?? []));
        if (Object.keys(fields).length > 0) expect(await (redis.client as Redis).pttl(KEY)).toBe(-1);
      }
    }),
    { numRuns: runs(Number(process.env.ORIEL_COUNTER_RUNS ?? 150)) },
  );
});
