import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KIND, MODE } from "../../../src/generated/layouts/limiter.ts";
import { Limiter } from "../../../src/limits/limiter/limiter.ts";
import { concurrency, fixedWindow, gcra, leakyBucket, slidingWindow } from "../../../src/limits/limiter/policies.ts";
import { decideFor } from "../../../src/limits/limiter/steps/decide.ts";
import type { Rule } from "../../../src/limits/limiter/steps/rule.ts";
import { type OpenStore, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";

describe.each([
  ["memory", onMemory],
  ["Redis", onRedis],
] as const)("on %s", (_name, open) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());
  beforeEach(() => opened.clear());

  test("the request key of one id is no policy key of another", async () => {
    const limiter = new Limiter(opened.store, [fixedWindow({ limit: 3, span: "1m" })], { name: "keys" });
    const tag = "t";
    for (let i = 0; i < 3; i++) await limiter.take("x!request", { tag });
    await limiter.take("x", { tag, requestId: "fixed-window" });
    expect((await limiter.take("x!request", { tag })).allowed).toBe(false);
  });

  test("a request that was answered for other policies is refused, but not other calls of its batch", async () => {
    const options = { name: "versions" };
    const before = new Limiter(opened.store, [fixedWindow({ limit: 3, span: "1m" })], options);
    const after = new Limiter(
      opened.store,
      [fixedWindow({ limit: 3, span: "1m" }), gcra({ limit: 3, span: "1m" })],
      options,
    );
    await before.take("id", { requestId: "r" });
    const [same, other] = await Promise.allSettled([
      after.take("id", { requestId: "r" }),
      after.take("id", { requestId: "s" }),
    ]);
    expect(same).toMatchObject({ status: "rejected", reason: { code: "MISMATCH", applied: "no" } });
    expect(other).toMatchObject({ status: "fulfilled", value: { allowed: true } });
  });

  test("a repeated request may release its permit", async () => {
    const limiter = new Limiter(opened.store, [concurrency({ limit: 1, lease: "1h" })], { name: "lent" });
    await limiter.take("id", { requestId: "r" });
    const { allowed, permit } = await limiter.take("id", { requestId: "r" });
    expect(allowed).toBe(true);
    await limiter.release("id", permit!);
    expect((await limiter.take("id")).allowed).toBe(true);
  });

  test("a request id without a UTF-8 form is refused", async () => {
    const limiter = new Limiter(opened.store, [fixedWindow({ limit: 3, span: "1m" })], { name: "surrogates" });
    await expect(limiter.take("id", { requestId: "\ud800" })).rejects.toMatchObject({ code: "ARGUMENT" });
  });

  test.each([
    ["sliding", slidingWindow({ limit: 5, span: "10s" })],
    ["leaky-bucket", leakyBucket({ capacity: 5, span: "10s" })],
    ["fixed", fixedWindow({ limit: 5, span: "10s" })],
  ])("a partial call that was denied passes exactly after retryAfterMs: %s", async (_kind, policy) => {
    const limiter = new Limiter(opened.store, [policy], { name: "partial" });
    await limiter.take("id", { cost: 4 });
    opened.clock.nowMs += 100;
    await limiter.take("id");
    const { allowed, retryAfterMs } = await limiter.take("id", { cost: 9, atLeast: 2 });
    expect(allowed).toBe(false);
    expect(retryAfterMs).toBeLessThan(Number.POSITIVE_INFINITY);
    opened.clock.nowMs += retryAfterMs - 1;
    expect((await limiter.take("id", { cost: 9, atLeast: 2 })).allowed).toBe(false);
    opened.clock.nowMs += 1;
    const passed = await limiter.take("id", { cost: 9, atLeast: 2 });
    expect(passed.allowed).toBe(true);
    expect(passed.granted).toBeGreaterThanOrEqual(2);
  });

  test("settled reservations do not count as open ones", async () => {
    const limiter = new Limiter(opened.store, [slidingWindow({ limit: 5000, span: "1s" })], { name: "many" });
    for (let i = 0; i < 1100; i++) {
      const reservation = await limiter.reserve("id", { cost: 1, lease: "30s" });
      expect(await reservation.settle(1)).toBeTruthy();
      opened.clock.nowMs += 1;
    }
  });

  test("a reservation of 0 permits is charged once when it is settled", async () => {
    const limiter = new Limiter(opened.store, [slidingWindow({ limit: 10, span: "1m" })], { name: "nothing" });
    const reservation = await limiter.reserve("id", { cost: 0, lease: "30s" });
    expect(await reservation.settle(4)).toBeTruthy();
    expect(await reservation.settle(4)).toBe(false);
    expect((await limiter.peek("id")).remaining).toBe(6);
  });

  test.each([
    slidingWindow({ limit: 10, span: "1m" }),
    fixedWindow({ limit: 10, span: "1m" }),
    gcra({ limit: 10, span: "1m" }),
  ])("a reservation leaves nothing behind: $name", async (policy) => {
    const limiter = new Limiter(opened.store, [policy], { name: "remaining" });
    const reservation = await limiter.reserve("id", { cost: 7, lease: "30s" });
    const [first, second] = await Promise.all([limiter.take("id"), limiter.take("id")]);
    expect([first!.remaining, second!.remaining]).toEqual([2, 1]);
    await reservation.cancel();
    expect((await limiter.peek("id")).remaining).toBe(8);
  });

  test("a window with totals above 2^53 still counts every permit", async () => {
    const big = {
      kind: KIND.sliding,
      isShadow: false,
      isAligned: false,
      calendar: 0,
      cost: 2 ** 31 - 1,
      limit: 2 ** 47,
      spanMs: 10,
      rate: 0,
    };
    const ask = (rule: Rule, calls: number) =>
      opened.store.run(decideFor(1, 1, false), "{total}", {
        mode: MODE.take,
        calls,
        isPartial: false,
        amount: 0,
        token: "",
        rules: [rule],
        isHead: [true],
        keySuffixes: [""],
        hasReservations: false,
        hasRequest: false,
      });
    for (let i = 0; i < 70; i++) {
      expect((await ask(big, 65_000)).granted).toBe(65_000);
      opened.clock.nowMs += 10;
    }
    const granted = [];
    for (let i = 0; i < 5; i++) granted.push((await ask({ ...big, cost: 1, limit: 3 }, 1)).granted);
    expect(granted).toEqual([1, 1, 1, 0, 0]);
  });

  test("a fixed window starts with its first call, not with a reservation", async () => {
    const limiter = new Limiter(opened.store, [fixedWindow({ limit: 1, span: 1000 })], { name: "begin" });
    const reservation = await limiter.reserve("id", { cost: 1, lease: "1m" });
    await reservation.cancel();
    opened.clock.nowMs += 900;
    await limiter.take("id");
    opened.clock.nowMs += 999;
    expect((await limiter.take("id")).allowed).toBe(false);
  });

  test("a repeated denial has the remaining time, and distinguishes limits and cost", async () => {
    const policy = (limit: number) => [slidingWindow({ limit, span: "1m" })];
    const limiter = new Limiter(opened.store, policy(3), { name: "deny", denyCache: 100 });
    for (let i = 0; i < 3; i++) await limiter.take("id");
    const first = await limiter.take("id");
    expect(first.retryAfterMs).toBe(60_000);
    opened.clock.nowMs += 40;
    const again = await limiter.take("id");
    expect(again).toMatchObject({ allowed: false, retryAfterMs: 59_960, resetAfterMs: 59_960 });
    expect(again.policies[0]).toMatchObject({ retryAfterMs: 59_960, resetAfterMs: 59_960 });
    expect((await limiter.take("id", { cost: 5 })).retryAfterMs).toBe(Number.POSITIVE_INFINITY);
    expect((await limiter.take("id", { policies: policy(9) })).allowed).toBe(true);
  });

  test("a cached denial does not deny a released permit", async () => {
    const limiter = new Limiter(opened.store, [concurrency({ limit: 1, lease: "1h" })], {
      name: "remembered",
      denyCache: 100,
    });
    const { permit } = await limiter.take("id");
    expect((await limiter.take("id")).allowed).toBe(false);
    await limiter.release("id", permit!);
    expect((await limiter.take("id")).allowed).toBe(true);
  });
});

describe("on Redis only", () => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await onRedis();
  });
  afterAll(() => opened?.close());

  test("reservations and stored answers get a lost expiry back", async () => {
    const limiter = new Limiter(opened.store, [slidingWindow({ limit: 2, span: "1m" })], { name: "heal" });
    await limiter.reserve("id", { cost: 1, lease: "1h" });
    await limiter.take("id", { requestId: "r" });
    const client = opened.client as Redis;
    for (const key of await client.keys("*")) await client.persist(key);
    await limiter.take("id", { requestId: "r" });
    expect((await limiter.take("id")).allowed).toBe(false);
    const expiries = await opened.expiries();
    expect(expiries.size).toBe(4);
    for (const expireAtMs of expiries.values()) expect(expireAtMs).toBeGreaterThan(opened.clock.nowMs);
  });

  test("a window that is full of records refuses before any policy of the call is charged", async () => {
    const records = 2 ** 22;
    const header = Buffer.alloc(80);
    header.set([1, 2]);
    header.writeDoubleLE(86_400_000, 24);
    for (const [i, value] of [records, 0, records].entries()) header.writeUInt32LE(value, 32 + 4 * i);
    const { nowMs } = opened.clock;
    for (const [i, value] of [records, 0, nowMs - records, nowMs - 1].entries())
      header.writeDoubleLE(value, 48 + 8 * i);
    const client = opened.client as Redis;
    await client.setrange("oriel:{full:id}:limit:b", 80 + 12 * records - 1, "\0");
    await client.setrange("oriel:{full:id}:limit:b", 0, header);
    const first = fixedWindow({ limit: 9, span: "1m", name: "a" });
    const limiter = new Limiter(opened.store, [first, slidingWindow({ limit: 1e9, span: "1d", name: "b" })], {
      name: "full",
    });
    await expect(limiter.take("id")).rejects.toMatchObject({ code: "OVERLOADED", applied: "no" });
    await expect(limiter.penalty("id")).rejects.toMatchObject({ code: "OVERLOADED", applied: "no" });
    expect(await client.exists("oriel:{full:id}:limit:a")).toBe(0);
  });
});
