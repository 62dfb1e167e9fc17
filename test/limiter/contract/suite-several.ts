import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concurrency, fixedWindow, Limiter, leakyBucket, slidingWindow } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";

/** Several policies of one limiter, and several limiters in one step. */
export function severalSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`${name}: several policies`, () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.clear());
    afterAll(() => opened?.close());

    test("all policies pass, or none is charged; the decision names the one with the longest wait", async () => {
      const limiter = new Limiter(
        opened.store,
        [
          slidingWindow({ limit: 5, span: 1000, name: "second" }),
          fixedWindow({ limit: 3, span: "1m", name: "minute" }),
          leakyBucket({ capacity: 4, span: 400, name: "burst" }),
        ],
        { ...opened.modes, name: "api" },
      );
      expect(await limiter.take("a", { cost: 3 })).toMatchObject({ allowed: true, policy: "minute", remaining: 0 });
      const denied = await limiter.take("a", { cost: 2 });
      expect(denied).toMatchObject({ allowed: false, policy: "minute", limit: 3, retryAfterMs: 60_000 });
      expect(denied.policies.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 2],
        [false, 0],
        [false, 1],
      ]);
    });

    test("a shadow policy counts passing calls, decides nothing, and reports its own decision", async () => {
      const limiter = new Limiter(
        opened.store,
        [slidingWindow({ limit: 3, span: 1000 }), fixedWindow({ limit: 1, span: "1m", name: "new", shadow: true })],
        { ...opened.modes, name: "api" },
      );
      await limiter.take("a");
      const second = await limiter.take("a");
      expect(second).toMatchObject({ allowed: true, policy: "sliding-window", remaining: 1, retryAfterMs: 0 });
      expect(second.policies[1]).toMatchObject({ allowed: false, shadow: true, retryAfterMs: 60_000, remaining: 0 });
      const alone = new Limiter(opened.store, [slidingWindow({ limit: 0, span: 1000, shadow: true })], {
        ...opened.modes,
        name: "dark",
      });
      expect(await alone.take("a")).toMatchObject({ allowed: true, granted: 1 });
    });

    test("takeAll takes from all limiters or from none, under one tag", async () => {
      const user = new Limiter(opened.store, [slidingWindow({ limit: 5, span: 1000 })], {
        ...opened.modes,
        name: "user",
      });
      const team = new Limiter(opened.store, [fixedWindow({ limit: 3, span: "1m" })], {
        ...opened.modes,
        name: "team",
      });
      const wanted = [
        { limiter: user, id: "u1" },
        { limiter: team, id: "t1", cost: 2 },
      ];
      expect(await Limiter.takeAll(wanted, { tag: "t1" })).toMatchObject({
        allowed: true,
        policy: "team:fixed-window",
      });
      const denied = await Limiter.takeAll(wanted, { tag: "t1" });
      expect(denied).toMatchObject({ allowed: false, policy: "team:fixed-window", retryAfterMs: 60_000 });
      expect(await user.peek("u1", { tag: "t1" })).toMatchObject({ remaining: 4 });
      expect(await team.peek("t1", { tag: "t1" })).toMatchObject({ remaining: 1 });
      expect(await user.peek("u1")).toMatchObject({ remaining: 5 });
    });

    test("takeAll respects blocks, reservations and lent permits of each limiter", async () => {
      const user = new Limiter(opened.store, [slidingWindow({ limit: 5, span: 1000 })], {
        ...opened.modes,
        name: "user",
      });
      const pool = new Limiter(opened.store, [concurrency({ limit: 2, lease: "1m" })], {
        ...opened.modes,
        name: "pool",
      });
      const wanted = [
        { limiter: user, id: "u" },
        { limiter: pool, id: "p" },
      ];
      const tag = "t";
      const reserved = await user.reserve("u", { cost: 5, lease: "1m", tag });
      expect(await Limiter.takeAll(wanted, { tag })).toMatchObject({ allowed: false, policy: "user:sliding-window" });
      await reserved.cancel();
      const taken = await Limiter.takeAll(wanted, { tag });
      expect(taken).toMatchObject({ allowed: true, permit: expect.stringMatching(/^[0-9a-f]{32}$/) });
      expect(await pool.peek("p", { tag })).toMatchObject({ remaining: 1 });
      await pool.release("p", taken.permit!, { tag });
      expect(await pool.peek("p", { tag })).toMatchObject({ remaining: 2 });
      await pool.block("p", 5000, { tag });
      expect(await Limiter.takeAll(wanted, { tag })).toMatchObject({ allowed: false, policy: "block" });
      expect(await user.peek("u", { tag })).toMatchObject({ remaining: 4 });
    });

    test("limiters with other names, prefixes or tags are independent", async () => {
      const of = (limiterName: string) =>
        new Limiter(opened.store, [slidingWindow({ limit: 1, span: 1000 })], { ...opened.modes, name: limiterName });
      const calls = [
        of("a").take("b:c"),
        of("a:b").take("c"),
        of("a").take("b"),
        of("a:").take("b"),
        of("a").take(":b"),
        of("a").take("b", { tag: "x", policies: [slidingWindow({ limit: 2, span: 1000 })] }),
        of("a").take("b", { tag: "y" }),
        of("a").take("b!request", { tag: "x" }),
        of("a").take("b", {
          tag: "x",
          requestId: "sliding-window",
          policies: [slidingWindow({ limit: 2, span: 1000 })],
        }),
      ];
      expect((await Promise.all(calls)).map(({ allowed }) => allowed)).toEqual(calls.map(() => true));
    });
  });
}
