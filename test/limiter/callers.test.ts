import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixedWindow, gcra, Limiter, localDecisions, memoryStore, OrielError } from "../../src/entries/index.ts";
import { CALLER_LIFE_MS, MAX_CALLERS } from "../../src/generated/layouts/limiter.ts";
import { noteCaller } from "../../src/limits/limiter/client/callers.ts";
import { callersKeyOf } from "../../src/limits/limiter/steps/decide.ts";
import type { Keyspace, Operation, Store } from "../../src/store/contract.ts";
import {
  type Call,
  expectAlikeExpiries,
  type OpenStore,
  onHttp,
  onMemory,
  onRedis,
  playAlike,
} from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";
import { awayStore } from "./faults/away-store.ts";

describe("the processes that use a limiter", () => {
  let stores: OpenStore[];
  beforeAll(async () => {
    stores = [await onRedis(), await onMemory(), await onHttp()];
  });
  afterAll(() => Promise.all(stores.map((each) => each.close())));
  const KEY = "oriel:{api}:limit:processes";
  const note = (store: Store, id: string) => store.run(noteCaller, KEY, id);
  /** A step that only a store in memory can run. */
  const inMemory = (local: (keys: Keyspace) => unknown): Operation<string, unknown> => ({ ...noteCaller, local });

  test("are counted as the definition says, in all forms, for any notes and steps of the clock", async () => {
    const id = fc.constantFrom("a", "b", "c", "é𝄞", "web-1:4242:9f3c21aa");
    const goneMs = fc.constantFrom(0, 1, 30_000, CALLER_LIFE_MS - 1, CALLER_LIFE_MS, -1, -30_000, -CALLER_LIFE_MS);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(goneMs, id), { minLength: 5, maxLength: 40 }), async (notes) => {
        let noted: { id: string; ms: number }[] = [];
        const calls = notes.map(([ms, one]): [number, Call] => [
          ms,
          async (store, nowMs) => {
            const count = await note(store, one);
            if (store === stores[0]!.store) {
              // Each id with its last note. One that is over or in the future is forgotten for good.
              const counts = (each: { id: string; ms: number }) =>
                each.id !== one && each.ms > nowMs - CALLER_LIFE_MS && each.ms <= nowMs;
              noted = [...noted.filter(counts), { id: one, ms: nowMs }];
              expect(count).toBe(noted.length);
            }
            return count;
          },
        ]);
        await playAlike(stores, calls);
        await expectAlikeExpiries(stores);
      }),
      { numRuns: runs(30) },
    );
  });

  test("are bounded: the one that was noted longest ago is forgotten", async () => {
    const [{ store, client, clear }, { store: memory }] = stores as [OpenStore, OpenStore];
    await clear();
    const nowMs = stores[0]!.clock.nowMs;
    const all = Array.from({ length: MAX_CALLERS }, (_, i) => [`p${i}`, nowMs - MAX_CALLERS + i] as const);
    await client!.zadd(KEY, ...all.flatMap(([id, ms]) => [String(ms), id]));
    await memory.run(
      inMemory((keys) => keys.set(KEY, new Map(all), 0, nowMs + 1000)),
      KEY,
      "",
    );
    for (const each of [store, memory]) {
      expect(await note(each, "one more")).toBe(MAX_CALLERS);
      expect(await note(each, "p1")).toBe(MAX_CALLERS);
    }
    const kept = await client!.zrange(KEY, "0", "-1");
    expect(kept).toEqual([...all.slice(2).map(([id]) => id as string), "one more", "p1"]);
    const names = await memory.run(
      inMemory((keys) => [...(keys.get(KEY) as Map<string, number>).keys()]),
      KEY,
      "",
    );
    expect((names as string[]).sort()).toEqual(kept.sort());
  });

  test("a foreign value under the key is CORRUPT, and no decision fails by it", async () => {
    const { store, client, clear } = stores[0]!;
    await clear();
    await client!.set(KEY, "foreign");
    await expect(note(store, "a")).rejects.toMatchObject({ code: "CORRUPT" });
    const limiter = new Limiter(store, [fixedWindow({ limit: 2, span: "1m" })], {
      name: "api",
      onStoreError: localDecisions(),
    });
    expect(callersKeyOf(store, "api")).toBe(KEY);
    expect(await limiter.take("a")).toMatchObject({ allowed: true, degraded: false });
  });
});

describe("in an outage each process has its share of the limits", () => {
  const key = (store: Store) => callersKeyOf(store, "api");
  function scene(others: number, options = {}) {
    const opened = awayStore();
    const { store } = opened;
    const policies = [
      fixedWindow({ limit: 100, span: "1h" }),
      gcra({ limit: 10, span: "1h", burst: 50, name: "pace", shadow: true }),
    ];
    const limiter = new Limiter(store, policies, { name: "api", onStoreError: localDecisions(options) });
    const noted = Promise.all(Array.from({ length: others }, (_, i) => store.run(noteCaller, key(store), `p${i}`)));
    return { opened, limiter, noted };
  }
  const admitted = async (limiter: Limiter) => {
    const decisions = await Promise.all(Array.from({ length: 120 }, () => limiter.take("a")));
    return decisions.filter(({ allowed }) => allowed).length;
  };

  test.each([
    [0, 100],
    [1, 50],
    [2, 33],
    [48, 2],
    [149, 1],
  ])("with %d others it admits %d of 100", async (others, expected) => {
    const { opened, limiter, noted } = scene(others);
    await noted;
    await limiter.peek("b");
    opened.isStoreFailure = true;
    const first = await limiter.take("b");
    expect(first).toMatchObject({ degraded: true, degradedBy: "local", share: 1 / (others + 1), limit: expected });
    expect(await admitted(limiter)).toBe(expected);
    // The store decides alone again, by the whole limit.
    opened.isStoreFailure = false;
    const after = await limiter.take("c");
    expect(after).toMatchObject({ degraded: false, limit: 100 });
    expect(after.share).toBeUndefined();
  });

  test("takeAll, acquire and reserve have the same share", async () => {
    const { opened, limiter, noted } = scene(3);
    await noted;
    await limiter.peek("b");
    opened.isStoreFailure = true;
    expect(await limiter.acquire("x", { cost: 25, wait: 0 })).toMatchObject({ allowed: true, share: 0.25 });
    expect(await limiter.take("x")).toMatchObject({ allowed: false, share: 0.25 });
    const taken = await Limiter.takeAll([{ limiter, id: "y", cost: 26 }], { tag: "t" });
    expect(taken).toMatchObject({ allowed: false, share: 0.25, limit: 25 });
    expect(await limiter.reserve("z", { cost: 26, lease: "1m" })).toMatchObject({ allowed: false, share: 0.25 });
    expect(await limiter.reserve("z", { cost: 25, lease: "1m" })).toMatchObject({ allowed: true, share: 0.25 });
  });

  test("a share that is named holds beside any other processes, and none is counted", async () => {
    const { opened, limiter, noted } = scene(9, { share: 0.5 });
    await noted;
    const asked = opened.asked;
    await limiter.peek("b");
    expect(opened.asked).toBe(asked + 1);
    opened.isStoreFailure = true;
    expect(await limiter.take("b")).toMatchObject({ share: 0.5, limit: 50 });
  });

  test("a process that has never reached the store has the whole limit, and says so", async () => {
    const { opened, limiter } = scene(0);
    opened.isStoreFailure = true;
    expect(await limiter.take("b")).toMatchObject({ share: 1, limit: 100 });
  });

  test("a store that has lost its data makes no share larger while the processes may still be there", async () => {
    const clock = { nowMs: Date.UTC(2100, 0, 1) };
    const memory = memoryStore({ registry: false, clock: () => clock.nowMs });
    let isAway = false;
    const store: Store = {
      ...memory,
      run: (...call) =>
        isAway
          ? Promise.reject(new OrielError("UNAVAILABLE", "away", { transient: true, applied: "no" }))
          : memory.run(...call),
    };
    for (let i = 0; i < 7; i++) await store.run(noteCaller, key(store), `p${i}`);
    const policies = [fixedWindow({ limit: 100, span: "1h" })];
    const limiter = new Limiter(store, policies, { name: "api", onStoreError: localDecisions() });
    await limiter.peek("b");
    const shareAfter = async (ms: number) => {
      clock.nowMs += ms;
      await limiter.peek("b"); // is noted
      isAway = true;
      const { share } = await limiter.peek("b");
      isAway = false;
      return share;
    };
    memory.clear();
    expect(await shareAfter(1000)).toBe(1 / 8);
    expect(await shareAfter(CALLER_LIFE_MS - 1001)).toBe(1 / 8);
    expect(await shareAfter(30_001)).toBe(1);
    await memory.close();
  });

  test("limiters of one name and store are one process, however often they are made", async () => {
    const { opened, noted } = scene(4);
    await noted;
    const asked = opened.asked;
    const again = () =>
      new Limiter(opened.store, [fixedWindow({ limit: 100, span: "1h" })], {
        name: "api",
        onStoreError: localDecisions(),
      });
    await again().take("b");
    await again().take("b");
    expect(opened.asked).toBe(asked + 3); // two decisions and a note
    opened.isStoreFailure = true;
    expect(await again().take("b")).toMatchObject({ share: 0.2, limit: 20 });
  });
});
