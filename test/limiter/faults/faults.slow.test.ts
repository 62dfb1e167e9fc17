import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type Charge,
  concurrency,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  localDecisions,
  redisStore,
  slidingWindow,
} from "../../../src/entries/index.ts";
import type { LimiterOptions } from "../../../src/limits/limiter/options.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

let server: RedisServer;
let raw: Redis;
let proxy: FaultProxy;
const opened: Store[] = [];
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
});
beforeEach(async () => {
  await raw.flushall();
  proxy = await startProxy(server.port);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await proxy.close();
});
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

const POLICIES = [
  slidingWindow({ limit: 10, span: "1h" }),
  fixedWindow({ limit: 10, span: "1h" }),
  leakyBucket({ capacity: 10, span: "7d" }),
  gcra({ limit: 10, span: "7d" }),
  concurrency({ limit: 10, lease: "1h" }),
];

/** A limiter behind the proxy, whose script is loaded; and one straight at the server. */
async function pair(deadlineMs: number, options: Partial<LimiterOptions> = {}, policies = POLICIES) {
  const stores = [
    redisStore(proxy.url, { deadline: deadlineMs, registry: false }),
    redisStore(server.url, { deadline: 10_000, registry: false }),
  ];
  opened.push(...stores);
  const [limiter, truth] = stores.map((store) => new Limiter(store, policies, { name: "api", ...options })) as [
    Limiter,
    Limiter,
  ];
  await until("the script is loaded", async () => !(await limiter.peek("warm")).degraded);
  await until("the script is loaded", async () => !(await limiter.peek("warm", { policies })).degraded);
  return { limiter, remaining: async () => (await truth.peek("a")).policies.map((each) => each.remaining) };
}
const all = (remaining: number) => POLICIES.map(() => remaining);
const asked = () => proxy.handedOn.get("EVALSHA") ?? 0;

describe.each(["cut", "silence"] as const)("a lost reply (%s)", (then) => {
  test("a take counts once, is not sent again, and rejects as unknown", async () => {
    const { limiter, remaining } = await pair(400);
    proxy.dropReplies(1, { then });
    const before = asked();
    await expect(limiter.take("a")).rejects.toMatchObject({ name: "OrielError", transient: true, applied: "unknown" });
    expect(asked() - before).toBe(1);
    expect(await remaining()).toEqual(all(9));
  });

  test("a take with a requestId counts once and is answered", async () => {
    const { limiter, remaining } = await pair(then === "cut" ? 60_000 : 5000);
    for (let i = 1; i <= 2; i++) {
      proxy.dropReplies(1, { then });
      const decision = await limiter.take("a", { requestId: `r${i}` });
      expect(decision).toMatchObject({ allowed: true, remaining: 10 - i });
      expect(await remaining()).toEqual(all(10 - i));
    }
  });

  test("a lost request: without an id nothing counts twice, with an id exactly once", async () => {
    const { limiter, remaining } = await pair(then === "cut" ? 60_000 : 5000);
    proxy.dropRequests(1, { then });
    await limiter.take("a", { requestId: "r" });
    expect(await remaining()).toEqual(all(9));
    const { limiter: hasty } = await pair(400);
    proxy.dropRequests(1, { then });
    await expect(hasty.take("a")).rejects.toMatchObject({ applied: "unknown" });
    expect(await remaining()).toEqual(all(9));
  });

  test("a penalty or reward that may be applied is not sent again", async () => {
    const { limiter, remaining } = await pair(400);
    proxy.dropReplies(1, { then });
    await expect(limiter.penalty("a", 2)).rejects.toMatchObject({ applied: "unknown" });
    expect(await remaining()).toEqual([8, 8, 8, 8, 10]);
    await until("it is back", async () => !(await limiter.peek("warm")).degraded);
    proxy.dropReplies(1, { then });
    await expect(limiter.reward("a", 1)).rejects.toMatchObject({ applied: "unknown" });
    expect(await remaining()).toEqual([9, 9, 9, 9, 10]);
  });

  test("a block or reset that may be applied is not sent again, so that no late copy undoes a later one", async () => {
    const { limiter, remaining } = await pair(400);
    proxy.dropReplies(1, { then });
    await expect(limiter.block("a", "1h")).rejects.toMatchObject({ applied: "unknown" });
    await until("it is back", async () => !(await limiter.peek("warm")).degraded);
    const before = asked();
    proxy.dropReplies(1, { then });
    await expect(limiter.reset("a")).rejects.toMatchObject({ applied: "unknown" });
    expect(asked() - before).toBe(1);
    expect(await remaining()).toEqual(all(10));
  });
});

const chargedOf = (charge: Charge | false) => charge !== false && charge.policies.map(({ charged }) => charged);

test("reservations, charges, settlements and releases are applied once", async () => {
  const { limiter, remaining } = await pair(10_000);
  proxy.dropReplies(1);
  const reserved = await limiter.reserve("a", { cost: 4, lease: "1m" });
  expect(await remaining()).toEqual(all(6));
  proxy.dropReplies(1);
  expect(chargedOf(await reserved.charge(1))).toEqual([1, 1, 1, 1, 0]);
  proxy.dropReplies(1);
  expect(await reserved.settle(3)).toBeTruthy();
  expect(await reserved.settle(3)).toBe(false);
  // Nothing is lent for what was settled.
  expect(await remaining()).toEqual([7, 7, 7, 7, 10]);
  const { permit } = await limiter.take("a");
  proxy.dropReplies(1);
  await limiter.release("a", permit!);
  expect(await remaining()).toEqual([6, 6, 6, 6, 10]);
});

test("SCRIPT FLUSH between any two calls, and before concurrent ones, has no effect", async () => {
  const { limiter, remaining } = await pair(10_000);
  for (let i = 0; i < 3; i++) {
    await raw.script("FLUSH");
    expect(await limiter.take("a")).toMatchObject({ allowed: true });
  }
  await raw.script("FLUSH");
  const many = await Promise.all(Array.from({ length: 30 }, (_, i) => limiter.take(i % 2 ? "a" : `b${i}`)));
  expect(many.filter(({ allowed }) => allowed)).toHaveLength(7 + 15);
  expect(await remaining()).toEqual(all(0));
});

describe("onStoreError, while the server stands still", () => {
  const DEADLINE_MS = 300;
  /** The answer comes while the server stands still. */
  async function stopped<T>(ask: () => Promise<T>): Promise<T> {
    server.pause();
    try {
      return await ask();
    } finally {
      server.resume();
    }
  }

  test("throw (default): rejects within the deadline", async () => {
    const { limiter } = await pair(DEADLINE_MS);
    expect(await stopped(() => limiter.take("a").catch(({ code }) => code))).toMatch(/^(DEADLINE|UNAVAILABLE)$/);
    await until("the store answers", async () => (await limiter.take("a")).allowed);
  });

  test.each(["allow", "deny"] as const)(
    "%s: decides within the deadline, marks the decision, and returns to the store",
    async (onStoreError) => {
      const { limiter } = await pair(DEADLINE_MS, { onStoreError });
      const allowed = onStoreError === "allow";
      const decision = await stopped(() => limiter.take("a", { cost: 2 }));
      expect(decision).toMatchObject({ allowed, granted: allowed ? 2 : 0, degraded: true, degradedBy: onStoreError });
      expect(decision.retryAfterMs).toBe(allowed ? 0 : 1000);
      expect(await limiter.peek("b").then(({ policies }) => policies.length)).toBe(5);
      await until("the store answers", async () => !(await limiter.peek("a")).degraded);
    },
  );

  test("local: passes up to this process's share of each limit; a request that the store got late counts once", async () => {
    const { limiter, remaining } = await pair(DEADLINE_MS, { onStoreError: localDecisions({ share: 0.3 }) });
    const decisions = await stopped(() => Promise.all(Array.from({ length: 5 }, () => limiter.take("a"))));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
    for (const each of decisions) expect(each).toMatchObject({ degraded: true, degradedBy: "local" });
    await until("the store answers", async () => !(await limiter.peek("a")).degraded);
    // The five were one step that arrived, or not: never more.
    const [left] = await remaining();
    expect([5, 10]).toContain(left);
    expect(await remaining()).toEqual(all(left!));
    let [id, taken] = [0, await limiter.take("later 0")];
    await until("it decides by the store", async () => {
      if (taken.degraded) taken = await limiter.take(`later ${++id}`);
      return !taken.degraded;
    });
    expect(taken).toMatchObject({ allowed: true, remaining: 9 });
  });

  test("errors that are not the store's always throw", async () => {
    const { limiter } = await pair(5000, { onStoreError: "allow" });
    await expect(limiter.take("a", { cost: -1 })).rejects.toMatchObject({ code: "ARGUMENT" });
    await raw.set("oriel:{api:c}:limit:sliding-window", "no state of a limiter");
    await expect(limiter.take("c")).rejects.toMatchObject({ code: "CORRUPT" });
  });
});

test.each(["throw", "local"] as const)(
  "a server that is down at construction (%s): calls reject until it is up",
  async (wished) => {
    proxy.refuse(true);
    const store = redisStore(proxy.url, { deadline: 300, registry: false });
    opened.push(store);
    const limiter = new Limiter(store, [slidingWindow({ limit: 2, span: "1h" })], {
      name: "api",
      onStoreError: wished === "local" ? localDecisions() : wished,
    });
    const first = limiter.take("a").catch((error) => error);
    expect(await first).toMatchObject(wished === "throw" ? { transient: true } : { allowed: true, degraded: true });
    proxy.refuse(false);
    await until("the store answers", async () => !(await limiter.peek("a")).degraded);
    let taken = await limiter.take("b0").catch(() => undefined);
    for (let id = 1; !taken || taken.degraded; id++) taken = await limiter.take(`b${id}`).catch(() => undefined);
    expect(taken).toMatchObject({ allowed: true, remaining: 1 });
  },
);
