import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type Charge,
  concurrency,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  type Policy,
  redisStore,
  slidingWindow,
} from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { formOf } from "../sliding-state.ts";

const KINDS: Record<string, Policy[]> = {
  "fixed-window": [fixedWindow({ limit: 5, span: "1h" })],
  "sliding-window": [slidingWindow({ limit: 5, span: "1h" })],
  "leaky-bucket": [leakyBucket({ capacity: 5, span: "7d" })],
  several: [
    slidingWindow({ limit: 5, span: "1h" }),
    gcra({ limit: 5, span: "7d" }),
    fixedWindow({ limit: 9, span: "1h" }),
  ],
};

const chargedOf = (charge: Charge | false) => charge !== false && charge.policies.map(({ charged }) => charged);

describe.each(["eval", "functions"] as const)("on a full server, %s,", (scripting) => {
  let server: RedisServer;
  let raw: Redis;
  let store: Store;
  beforeAll(async () => {
    server = await startRedis();
    raw = new Redis(server.url);
    store = redisStore(server.url, { scripting, deadline: 5000 });
    // What frees must be known to the server before it is full: it takes no new text then.
    const limiter = new Limiter(store, KINDS.several!, { name: "warm" });
    await limiter.peek("a");
    await limiter.take("a");
  });
  beforeEach(async () => {
    await raw.config("SET", "maxmemory", "0");
    await raw.flushall();
  });
  afterAll(async () => {
    await store?.close();
    raw?.disconnect();
    await server?.stop();
  });
  const fill = async () => {
    await raw.config("SET", "maxmemory-policy", "noeviction");
    await raw.config("SET", "maxmemory", "1");
  };
  const isFull = (limiter: Limiter) => expect(limiter.take("a")).rejects.toMatchObject({ code: "OVERLOADED" });

  test.each(Object.entries(KINDS))(
    "calls that free or read succeed, calls that take are refused: %s",
    async (_name, policies) => {
      const limiter = new Limiter(store, policies, { name: "api" });
      await limiter.take("a", { cost: 3 });
      await limiter.block("b", "1h");
      await fill();
      await isFull(limiter);
      expect(await limiter.peek("a")).toMatchObject({ remaining: 2 });
      expect(await limiter.reward("a", 2)).toMatchObject({ remaining: 4 });
      expect(await limiter.block("b", 0)).toMatchObject({ allowed: true });
      await expect(limiter.block("b", "1h")).rejects.toMatchObject({ code: "OVERLOADED", applied: "no" });
      await limiter.reset("a");
      expect(await limiter.peek("a")).toMatchObject({ remaining: 5 });
    },
  );

  test.each(Object.entries(KINDS))("reservations are settled and cancelled: %s", async (_name, policies) => {
    const limiter = new Limiter(store, policies, { name: "api" });
    const [settled, charged, cancelled] = [
      await limiter.reserve("a", { cost: 2, lease: "1h" }),
      await limiter.reserve("a", { cost: 1, lease: "1h" }),
      await limiter.reserve("a", { cost: 2, lease: "1h" }),
    ];
    await fill();
    await isFull(limiter);
    expect(await cancelled.cancel()).toBe(true);
    expect(chargedOf(await charged.charge(1))).toEqual(policies.map(() => 1));
    expect(chargedOf(await settled.settle(1))).toEqual(policies.map(() => 1));
    expect(await settled.settle(1)).toBe(false);
    expect(chargedOf(await charged.settle(0))).toEqual(policies.map(() => 1));
    expect(await limiter.peek("a")).toMatchObject({ remaining: 3 });
  });

  test("lent permits are returned", async () => {
    const limiter = new Limiter(store, [concurrency({ limit: 2, lease: "1h" })], { name: "pool" });
    const { permit } = await limiter.take("a");
    await fill();
    await isFull(limiter);
    await limiter.release("a", permit!);
    expect(await limiter.peek("a")).toMatchObject({ remaining: 2 });
  });

  test.each([
    ["a ring", 1e6, 600],
    ["a log", 100, 40],
  ])("settling adds only its records to %s", async (form, limit, calls) => {
    const limiter = new Limiter(store, [slidingWindow({ limit, span: "1h" })], { name: "api" });
    const reserved = await Promise.all(
      Array.from({ length: 20 }, () => limiter.reserve("a", { cost: 1, lease: "1h" })),
    );
    for (let i = 0; i < calls; i++) await limiter.take("a");
    const key = "oriel:{api:a}:limit:sliding-window";
    const state = (await raw.getBuffer(key))!;
    expect(formOf(state)).toBe(form === "a ring" ? "ring" : "log");
    // A settle may be the first with two permits in one ms. Then each record of a log gets the byte of its total.
    const most = form === "a ring" ? 12 * reserved.length : 4 * reserved.length + calls;
    await fill();
    for (const one of reserved) expect(await one.settle(1)).toBeTruthy();
    expect((await raw.strlen(key)) - state.length).toBeLessThanOrEqual(most);
  });
});
