import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concurrency, fixedWindow, Limiter, leakyBucket, slidingWindow } from "../../src/entries/index.ts";
import { type OpenStore, onHttp, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";

const requestId = "r1";
const window = (limit: number, span = 3_600_000) => [fixedWindow({ limit, span })];

describe.each([
  ["memory", onMemory],
  ["Redis", () => onRedis()],
  ["a cluster", () => onRedis(true)],
  ["Redis over HTTP", onHttp],
] as const)("a repeated request, %s,", (_name, open) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await open();
  });
  beforeEach(() => opened.clear());
  afterAll(() => opened?.close());
  const limiterOf = (policies = window(10)) => new Limiter(opened.store, policies, { name: "api" });

  test.each([
    ["another cost", { cost: 1_000_000 }],
    ["no cost", { cost: 0 }],
    ["less than the cost will do", { cost: 1, atLeast: 1 }],
    ["another limit", { policies: window(9) }],
    ["another span", { policies: window(10, 60_000) }],
    ["a shadow", { policies: [fixedWindow({ limit: 10, span: 3_600_000, shadow: true })] }],
    ["an aligned window", { policies: [fixedWindow({ limit: 10, span: 3_600_000, aligned: true })] }],
  ])("with %s, is a MISMATCH and changes nothing", async (_what, options) => {
    const limiter = limiterOf();
    const first = await limiter.take("a", { requestId });
    await expect(limiter.take("a", { requestId, ...options })).rejects.toMatchObject({
      code: "MISMATCH",
      applied: "no",
    });
    expect(await limiter.take("a", { requestId })).toEqual(first);
    expect(await limiter.peek("a")).toMatchObject({ remaining: 9 });
  });

  test("is the same request for every caller, with or without reservations", async () => {
    const [one, other] = [limiterOf(), limiterOf()];
    const first = await one.take("a", { requestId });
    const reserved = await one.reserve("a", { cost: 1, lease: "1m" });
    expect(await other.take("a", { requestId })).toEqual(first);
    expect(await one.take("a", { requestId })).toEqual(first);
    await reserved.cancel();
  });

  test("is denied while the id is blocked, and has its first answer afterwards", async () => {
    const limiter = limiterOf();
    const first = await limiter.take("a", { requestId });
    await limiter.block("a", 5000);
    const denied = await limiter.take("a", { requestId });
    expect(denied).toMatchObject({ allowed: false, policy: "block", granted: 0 });
    opened.clock.nowMs += 5000;
    expect(await limiter.take("a", { requestId })).toEqual(first);
  });

  test("of a sliding window has its first answer, whatever its times are, but not while the id is blocked", async () => {
    const limiter = limiterOf([slidingWindow({ limit: 1, span: 10 })]);
    const first = await limiter.take("a", { requestId });
    for (const goneMs of [-2, 0, 2]) {
      opened.clock.nowMs += goneMs;
      expect(await limiter.take("a", { requestId })).toEqual(first);
    }
    await limiter.block("a", 5000);
    expect(await limiter.take("a", { requestId })).toMatchObject({ allowed: false, policy: "block" });
    opened.clock.nowMs += 5000;
    expect(await limiter.take("a", { requestId })).toEqual(first);
  });

  test.each([
    ["fixed-window", window(1)],
    ["sliding-window", [slidingWindow({ limit: 1, span: "1h" })]],
    ["leaky-bucket", [leakyBucket({ capacity: 1, span: "1h" })]],
    ["concurrency", [concurrency({ limit: 1, lease: "1h" })]],
  ])("is decided and counted again after a reset: %s", async (_kind, policies) => {
    const limiter = limiterOf(policies);
    await limiter.take("a", { requestId });
    await limiter.reset("a");
    opened.clock.nowMs += 10;
    await limiter.take("a", { requestId: "another" });
    expect(await limiter.take("a", { requestId })).toMatchObject({ allowed: false });
    await limiter.reset("a");
    opened.clock.nowMs += 10;
    expect(await limiter.take("a", { requestId })).toMatchObject({ allowed: true });
    expect(await limiter.take("a", { requestId })).toMatchObject({ allowed: true });
    expect(await limiter.take("a")).toMatchObject({ allowed: false });
  });

  test("is new after a reset, as is any request of the same id; those of other ids are not", async () => {
    const limiter = limiterOf(window(2));
    for (const id of ["a", "b"]) for (const request of ["r1", "r2"]) await limiter.take(id, { requestId: request });
    await limiter.reset("a");
    opened.clock.nowMs += 10;
    for (const request of ["r2", "r1"])
      expect(await limiter.take("a", { requestId: request })).toMatchObject({ allowed: true });
    expect(await limiter.take("a")).toMatchObject({ allowed: false });
    for (const request of ["r1", "r2"])
      expect(await limiter.take("b", { requestId: request })).toMatchObject({ allowed: true });
  });

  test("is remembered for a minute from its grant, even if repeated, and when the clock steps back", async () => {
    const limiter = limiterOf(window(100));
    const first = await limiter.take("a", { requestId });
    for (let i = 0; i < 5; i++) {
      opened.clock.nowMs += i === 2 ? -9_000 : 11_000;
      await limiter.take("a", { requestId: `other ${i}` });
      expect(await limiter.take("a", { requestId })).toEqual(first);
    }
    opened.clock.nowMs += 60_000;
    expect(await limiter.take("a", { requestId })).toMatchObject({ allowed: true, remaining: 93 });
  });
});
