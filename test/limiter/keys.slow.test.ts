import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Limiter } from "../../src/entries/index.ts";
import { type OpenStore, onRedis } from "../harness/clock/stepped-stores.ts";
import { Random } from "../simulator/world/random.ts";
import { KINDS } from "./contract/oracle.ts";
import { randomTerms } from "./contract/trace.ts";

const seed = Number(process.env.ORIEL_SEED ?? Date.now() % 1_000_000);
/** The longest that any key of these tests may last: a request or a settled reservation, and the longest lease or block. */
const MAX_SPAN_MS = 60_000 + 5000;
/** A month and an eighth of it after the last permit, so that it ends in each zone, and a day. */
const MAX_CALENDAR_MS = ((31 * 9) / 8 + 1) * 86_400_000;

let opened: OpenStore;
let raw: Redis;
beforeAll(async () => {
  // The keys of the registry are no keys of a limiter.
  opened = await onRedis(false, { registry: false });
  raw = opened.client as Redis;
});
beforeEach(() => opened.clear());
afterAll(() => opened?.close());

/** A request that was granted at another cost. */
function mismatch(error: { code: string }): void {
  expect(error.code).toBe("MISMATCH");
}

/** One call of each verb, chosen at random; rejects nothing. */
function verbs(limiter: Limiter, random: Random): Record<string, () => Promise<unknown>> {
  const cost = random.pick([0, 1, 1, 2, 5]);
  return {
    take: () => limiter.take("id", { cost }),
    atLeast: () => limiter.take("id", { cost: cost + 1, atLeast: 1 }),
    request: () => limiter.take("id", { cost, requestId: `r${random.int(0, 2)}` }).catch(mismatch),
    peek: () => limiter.peek("id", { cost }),
    penalty: () => limiter.penalty("id", cost),
    reward: () => limiter.reward("id", cost),
    block: () => limiter.block("id", random.pick([0, 1, 700, 5000])),
    reserve: () => limiter.reserve("id", { cost, lease: random.pick([1, 300, 5000]) }),
    settle: async () => {
      const reserved = await limiter.reserve("id", { cost, lease: 300 });
      if (reserved.allowed) await reserved.settle(random.int(0, 3));
    },
    release: () => limiter.release("id", "0".repeat(32)),
    together: () => Promise.all([1, 2, 3].map(() => limiter.take("id", { cost }))),
    all: () => Limiter.takeAll([{ limiter, id: "id", cost }], { tag: "t" }),
  };
}

describe.each(KINDS)("%s", (kind) => {
  test(`every key has a bounded expiry after every call, and regains it after PERSIST (seed ${seed})`, async () => {
    const random = new Random(seed);
    for (let trial = 0; trial < 20; trial++) {
      await opened.clear();
      const policies = [kind, random.pick(KINDS), random.pick(KINDS)].map((each, i) => ({
        ...randomTerms(each, random).policy,
        name: `p${i}`,
        isShadow: random.chance(0.2),
      }));
      const limiter = new Limiter(opened.store, policies, { name: "keys" });
      for (let i = 0; i < 15; i++) {
        opened.clock.nowMs += random.pick([0, 0, 1, 50, 400]);
        const all = verbs(limiter, random);
        const verb = random.pick(Object.keys(all));
        await all[verb]!();
        for (const [key, atMs] of await opened.expiries()) {
          const leftMs = atMs - opened.clock.nowMs;
          const isCalendar = policies.some(({ name, calendar }) => calendar && key.endsWith(`:${name}`));
          const mostMs = isCalendar ? MAX_CALENDAR_MS : MAX_SPAN_MS;
          if (!(leftMs >= 0 && leftMs <= mostMs)) expect({ verb, key, leftMs }).toBe("an expiry in bounds");
        }
        const before = await opened.expiries();
        for (const key of before.keys()) await raw.persist(key);
        await limiter.take("id", { cost: 0 });
        await Limiter.takeAll([{ limiter, id: "id", cost: 0 }], { tag: "t" });
        for (let r = 0; r < 3; r++) await limiter.take("id", { cost: 0, requestId: `r${r}` }).catch(mismatch);
        const after = await opened.expiries();
        for (const [key, atMs] of after) if (atMs < 0) expect({ verb, key }).toBe("healed");
        for (const [key, atMs] of before)
          if (!key.includes("!request") && atMs > opened.clock.nowMs)
            expect([key, after.get(key)]).toEqual([key, atMs]);
      }
    }
  });

  test(`a refused step changes no byte, for any cost (seed ${seed})`, async () => {
    const random = new Random(seed + 1);
    let refused = 0;
    while (refused < 100) {
      await opened.clear();
      const policies = [kind, random.pick(KINDS)].map((each, i) => ({
        ...randomTerms(each, random).policy,
        name: `p${i}`,
      }));
      const limiter = new Limiter(opened.store, policies, { name: "dump" });
      const dump = async () => {
        const keys = (await raw.keys("*")).sort();
        return Promise.all(keys.map(async (key) => [key, await raw.dumpBuffer(key), await raw.pexpiretime(key)]));
      };
      for (let i = 0; i < 20; i++) {
        opened.clock.nowMs += random.pick([0, 0, 1, 50]);
        const before = await dump();
        const decision = await limiter.take("id", { cost: random.pick([1, 1, 2, 5, 12, 2 ** 31 - 1]) });
        if (decision.allowed) continue;
        refused++;
        // Keys expired by the clock are gone in a test. Nothing else has changed.
        const stands = before.filter(([, , atMs]) => (atMs as number) >= opened.clock.nowMs);
        expect(await dump()).toEqual(stands);
      }
    }
  });
});

test("the reset of one id among 20 000 touches only its own keys, with one DEL each", async () => {
  const limiter = new Limiter(opened.store, [randomTerms("sliding-window", new Random(3)).policy], { name: "many" });
  await limiter.penalty("one");
  await limiter.penalty("on*");
  const foreign = Array.from({ length: 20_000 }, (_, i) => [`oriel:{many:one${i}}:limit:sliding-window`, "x"]).flat();
  await raw.mset(...(foreign as [string, string]));
  const size = await raw.dbsize();
  await raw.config("RESETSTAT");
  await limiter.reset("on*");
  expect(await raw.dbsize()).toBe(size - 1);
  await limiter.reset("one");
  expect(await raw.dbsize()).toBe(size - 2);
  const stats = await raw.info("commandstats");
  expect(/cmdstat_del:calls=(\d+)/.exec(stats)?.[1]).toBe("6");
  expect(stats).not.toMatch(/cmdstat_(scan|keys|flushdb)/);
});

test("an id is found by SCAN as it is, and no two ids share a key, whatever their names", async () => {
  const policies = [KINDS[0]!].map((each) => ({ ...randomTerms(each, new Random(seed)).policy, limit: 9, name: "p" }));
  for (const id of ["ip:1.2.3.4", "ip:2001:db8::/64", "user!7", "50%", "a b"]) {
    await opened.clear();
    const limiter = new Limiter(opened.store, policies, { name: "api" });
    await limiter.take(id);
    const written = id.replaceAll("%", "%25");
    for (const key of await raw.keys("*")) expect(key).toContain(`{api:${written}}`);
    await opened.clear();
    await limiter.take(id, { tag: "t" });
    const beside = written.replaceAll("!", "%21");
    for (const key of await raw.keys("*")) expect(key).toContain(`{t}:limit:api:${beside}:p`);
  }
  await opened.clear();
  const parts = ["a", ":", "%", "!", "%3A", "a:", ":a", "a:p", "p", "!holds", "a!request:p:p", "a!requests", "{", "}"];
  const keys = new Set<string>();
  for (const name of parts)
    for (const id of parts) {
      await opened.clear();
      const limiter = new Limiter(opened.store, policies, { name });
      await limiter.take(id, { requestId: "r" });
      await limiter.take(id, { tag: "t", requestId: "p:p" });
      await (await limiter.reserve(id, { cost: 1, tag: "t", lease: 1000 })).settle(1);
      for (const key of await raw.keys("*")) {
        expect(keys.has(key), `${name} ${id} ${key}`).toBe(false);
        keys.add(key);
      }
    }
});
