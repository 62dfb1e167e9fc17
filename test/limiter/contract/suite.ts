import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concurrency, fixedWindow, gcra, Limiter, leakyBucket, slidingWindow } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";

/** What each verb of a limiter promises, over one store on a stepped clock. */
export function limiterSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`${name}: verbs`, () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.clear());
    afterAll(() => opened?.close());
    const limiterOf = (limit = 3, options = {}) =>
      new Limiter(opened.store, [slidingWindow({ limit, span: 1000 })], { ...opened.modes, name: "api", ...options });

    test("take passes up to the limit, and is then denied with the exact wait", async () => {
      const limiter = limiterOf(2);
      expect(await limiter.take("a")).toEqual({
        allowed: true,
        granted: 1,
        degraded: false,
        policy: "sliding-window",
        limit: 2,
        remaining: 1,
        retryAfterMs: 0,
        resetAfterMs: 1000,
        policies: [
          {
            name: "sliding-window",
            kind: "sliding-window",
            allowed: true,
            shadow: false,
            limit: 2,
            spanMs: 1000,
            remaining: 1,
            retryAfterMs: 0,
            resetAfterMs: 1000,
          },
        ],
      });
      opened.clock.nowMs += 400;
      await limiter.take("a");
      const denied = await limiter.take("a");
      expect(denied).toMatchObject({ allowed: false, granted: 0, remaining: 0, retryAfterMs: 600, resetAfterMs: 1000 });
      expect(await limiter.take("b")).toMatchObject({ allowed: true });
      opened.clock.nowMs += 599;
      expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1 });
      opened.clock.nowMs += 1;
      expect(await limiter.take("a")).toMatchObject({ allowed: true });
    });

    test("peek returns the current state and takes nothing", async () => {
      const limiter = limiterOf(2);
      for (let i = 0; i < 5; i++) expect(await limiter.peek("a")).toMatchObject({ allowed: true, remaining: 2 });
      await limiter.take("a");
      expect(await limiter.peek("a", { cost: 2 })).toMatchObject({ allowed: false, remaining: 1, retryAfterMs: 1000 });
      expect(await limiter.take("a")).toMatchObject({ allowed: true });
    });

    test("reset drops permits and blocks of one id", async () => {
      const limiter = limiterOf(1);
      await Promise.all([limiter.take("a"), limiter.take("b")]);
      await limiter.block("a", "1h");
      await limiter.reset("a");
      expect(await limiter.peek("a")).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.peek("b")).toMatchObject({ allowed: false });
    });

    test("penalty and reward exceed the limit and return, with the answer of peek", async () => {
      const limiter = limiterOf(3);
      expect(await limiter.penalty("a", 2)).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.penalty("a", 4)).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 1000 });
      expect(await limiter.reward("a", 3)).toMatchObject({ allowed: false, remaining: 0 });
      expect(await limiter.reward("a")).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.reward("a", 100)).toMatchObject({ allowed: true, remaining: 3, resetAfterMs: 0 });
      expect(await limiter.take("a", { cost: 3 })).toMatchObject({ allowed: true });
    });

    test("block denies even a cost of 0 until its end, whatever the policies", async () => {
      const limiter = limiterOf(3);
      expect(await limiter.block("a", 5000)).toMatchObject({ allowed: false, policy: "block", retryAfterMs: 5000 });
      opened.clock.nowMs += 4999;
      expect(await limiter.take("a", { cost: 0 })).toMatchObject({ allowed: false, policy: "block", retryAfterMs: 1 });
      opened.clock.nowMs += 1;
      expect(await limiter.take("a")).toMatchObject({ allowed: true, remaining: 2 });
      await limiter.block("a", "1h");
      expect(await limiter.block("a", 0)).toMatchObject({ allowed: true, remaining: 2 });
      expect(await limiter.take("a")).toMatchObject({ allowed: true });
    });

    test("a block does not start a fixed window", async () => {
      const limiter = new Limiter(opened.store, [fixedWindow({ limit: 2, span: 1000 })], {
        ...opened.modes,
        name: "api",
      });
      await limiter.block("a", 500);
      opened.clock.nowMs += 600;
      await limiter.take("a");
      opened.clock.nowMs += 500;
      expect(await limiter.take("a")).toMatchObject({ allowed: true, remaining: 0, resetAfterMs: 500 });
      expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 500 });
    });

    test("atLeast takes the free permits down to a minimum; a denial waits for the minimum", async () => {
      const limiter = limiterOf(5);
      expect(await limiter.take("a", { cost: 3, atLeast: 1 })).toMatchObject({ granted: 3, remaining: 2 });
      opened.clock.nowMs += 100;
      expect(await limiter.take("a", { cost: 10, atLeast: 1 })).toMatchObject({ granted: 2, remaining: 0 });
      const denied = await limiter.take("a", { cost: 10, atLeast: 3 });
      expect(denied).toMatchObject({ allowed: false, granted: 0, retryAfterMs: 900 });
      opened.clock.nowMs += 900;
      expect(await limiter.take("a", { cost: 10, atLeast: 3 })).toMatchObject({ allowed: true, granted: 3 });
    });

    test("requestId counts once within a minute, with the same answer; a denial is decided anew", async () => {
      const limiter = limiterOf(1);
      const first = await limiter.take("a", { requestId: "r1" });
      opened.clock.nowMs += 100;
      expect(await limiter.take("a", { requestId: "r1" })).toEqual(first);
      expect(await limiter.take("a", { requestId: "r2" })).toMatchObject({ allowed: false, retryAfterMs: 900 });
      opened.clock.nowMs += 900;
      expect(await limiter.take("a", { requestId: "r2" })).toMatchObject({ allowed: true });
      opened.clock.nowMs += 59_101;
      expect(await limiter.take("a", { requestId: "r1" })).toMatchObject({ allowed: true });
      expect(await limiter.take("b", { requestId: "r1" })).toMatchObject({ allowed: true });
    });

    test("requestId with a concurrency policy: the repeated call has the same permit", async () => {
      const limiter = new Limiter(opened.store, [concurrency({ limit: 1, lease: "1m" })], {
        ...opened.modes,
        name: "pool",
      });
      const { permit } = await limiter.take("a", { requestId: "r1" });
      const again = await limiter.take("a", { requestId: "r1" });
      expect(again).toMatchObject({ allowed: true, permit });
      await limiter.release("a", again.permit!);
      expect(await limiter.take("a")).toMatchObject({ allowed: true });
    });

    test("concurrency: a permit is lent until it is released or its lease ends", async () => {
      const limiter = new Limiter(opened.store, [concurrency({ limit: 2, lease: 1000 })], {
        ...opened.modes,
        name: "pool",
      });
      const one = await limiter.take("a");
      opened.clock.nowMs += 300;
      await limiter.take("a");
      expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 700, resetAfterMs: 1000 });
      for (let i = 0; i < 2; i++) await limiter.release("a", one.permit!);
      expect(await limiter.take("a")).toMatchObject({ allowed: true, remaining: 0 });
      await limiter.release("a", one.permit!);
      expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1000 });
      opened.clock.nowMs += 1000;
      expect(await limiter.take("a", { cost: 2 })).toMatchObject({ allowed: true });
      expect(await limiter.penalty("a", 5)).toMatchObject({ remaining: 0 });
      expect(await limiter.reward("a", 5)).toMatchObject({ remaining: 0 });
    });

    test("acquire passes at once if possible; after its wait it is denied; ids wait separately", async () => {
      const limiter = limiterOf(1);
      expect(await limiter.acquire("a")).toMatchObject({ allowed: true });
      expect(await limiter.acquire("a", { wait: 0 })).toMatchObject({ allowed: false });
      expect(await limiter.acquire("a", { wait: 500 })).toMatchObject({ allowed: false, retryAfterMs: 1000 });
      expect(await limiter.acquire("b", { wait: 0 })).toMatchObject({ allowed: true });
      const abort = AbortSignal.abort(new Error("no longer wanted"));
      await expect(limiter.acquire("a", { signal: abort })).rejects.toThrow("no longer wanted");
    });

    test("leaky bucket and GCRA leak between calls", async () => {
      const leaky = [
        new Limiter(opened.store, [leakyBucket({ capacity: 4, span: 1000 })], {
          ...opened.modes,
          name: "leaky-bucket",
        }),
        new Limiter(opened.store, [gcra({ limit: 4, span: 1000 })], { ...opened.modes, name: "gcra" }),
      ];
      for (const limiter of leaky) expect(await limiter.take("a", { cost: 4 })).toMatchObject({ remaining: 0 });
      for (const limiter of leaky) expect(await limiter.take("a")).toMatchObject({ retryAfterMs: 250 });
      opened.clock.nowMs += 250;
      for (const limiter of leaky) expect(await limiter.take("a")).toMatchObject({ allowed: true, resetAfterMs: 1000 });
    });

    test("denyCache repeats a denial without a request, with the store's answer, and answers nothing else", async () => {
      const policies = [slidingWindow({ limit: 2, span: 1000 })];
      const limiter = new Limiter(opened.store, policies, { ...opened.modes, name: "api", denyCache: 100 });
      await limiter.take("a", { cost: 2 });
      const denied = await limiter.take("a");
      opened.clock.nowMs += 40;
      const later = { ...denied, retryAfterMs: 960, resetAfterMs: 960 };
      later.policies = [{ ...denied.policies[0]!, retryAfterMs: 960, resetAfterMs: 960 }];
      expect(await limiter.take("a")).toEqual(later);
      expect(await limiterOf(2).take("a")).toEqual(later);
      const raised = [slidingWindow({ limit: 9, span: 1000 })];
      expect(await limiter.take("a", { policies: raised })).toMatchObject({ allowed: true });
      await limiter.reset("a");
      expect(await limiter.take("a")).toMatchObject({ allowed: true });
    });

    test("policies per id and per call: raised and lowered limits apply at once", async () => {
      const limiter = new Limiter(
        opened.store,
        (id) => [slidingWindow({ limit: id.startsWith("gold") ? 5 : 1, span: 1000 })],
        { ...opened.modes, name: "api" },
      );
      expect(await limiter.take("gold:1", { cost: 5 })).toMatchObject({ allowed: true, limit: 5 });
      expect(await limiter.take("plain", { cost: 5 })).toMatchObject({
        allowed: false,
        retryAfterMs: Number.POSITIVE_INFINITY,
      });
      expect(await limiter.take("plain")).toMatchObject({ allowed: true });
      const of = (limit: number) => ({ policies: [slidingWindow({ limit, span: 1000 })] });
      expect(await limiter.take("plain", of(3))).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.take("plain", of(1))).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 1000 });
      expect(await limiter.take("plain", of(3))).toMatchObject({ allowed: true, remaining: 0 });
    });
  });
}
