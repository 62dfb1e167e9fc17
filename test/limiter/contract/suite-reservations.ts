import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concurrency, fixedWindow, gcra, Limiter, slidingWindow } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";

/** Permits that are set aside for a cost that is known later. */
export function reservationSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`${name}: reservations`, () => {
    let opened: OpenStore;
    let limiter: Limiter;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(async () => {
      await opened.clear();
      limiter = new Limiter(opened.store, [slidingWindow({ limit: 10, span: 1000 })], { ...opened.modes, name: "llm" });
    });
    afterAll(() => opened?.close());

    test("reserved permits are unavailable to others, and free again after the lease", async () => {
      expect(await limiter.reserve("a", { cost: 8, lease: 300 })).toMatchObject({
        allowed: true,
        granted: 8,
        remaining: 2,
      });
      expect(await limiter.reserve("a", { cost: 3, lease: 300 })).toMatchObject({
        allowed: false,
        granted: 0,
        policy: "sliding-window",
        remaining: 2,
        retryAfterMs: 300,
      });
      expect(await limiter.peek("a")).toMatchObject({ allowed: true, remaining: 2 });
      expect(await limiter.take("a", { cost: 3 })).toMatchObject({ allowed: false, remaining: 2, retryAfterMs: 300 });
      opened.clock.nowMs += 300;
      expect(await limiter.take("a", { cost: 10 })).toMatchObject({ allowed: true });
    });

    test("another limiter of the same name sees the reservation; it has reserved nothing itself", async () => {
      const other = new Limiter(opened.store, [slidingWindow({ limit: 10, span: 1000 })], {
        ...opened.modes,
        name: "llm",
      });
      await limiter.reserve("a", { cost: 10, lease: "1m" });
      expect(await other.take("a")).toMatchObject({ allowed: false, remaining: 0 });
    });

    test("settle charges the actual cost once, also a larger one", async () => {
      const reserved = await limiter.reserve("a", { cost: 5, lease: "1m" });
      expect(await reserved.settle(3)).toEqual({
        policies: [{ name: "sliding-window", charged: 3, overrun: 0, debt: 0 }],
      });
      expect(await reserved.settle(3)).toBe(false);
      expect(await reserved.cancel()).toBe(false);
      expect(await limiter.peek("a")).toMatchObject({ remaining: 7, resetAfterMs: 1000 });
      const more = await limiter.reserve("a", { cost: 5, lease: "1m" });
      expect(await more.settle(9)).toEqual({
        policies: [{ name: "sliding-window", charged: 9, overrun: 4, debt: 2 }],
      });
      expect(await limiter.peek("a")).toMatchObject({ allowed: false, remaining: 0 });
    });

    test("cancel charges nothing; a cost of 0 may be reserved and settled", async () => {
      const reserved = await limiter.reserve("a", { cost: 5, lease: "1m" });
      expect(await reserved.cancel()).toBe(true);
      expect(await limiter.peek("a")).toMatchObject({ remaining: 10 });
      const none = await limiter.reserve("a", { cost: 0, lease: "1m" });
      expect(await limiter.peek("a")).toMatchObject({ remaining: 10 });
      expect(await none.settle(4)).toMatchObject({ policies: [{ overrun: 4 }] });
      expect(await none.settle(4)).toBe(false);
      expect(await limiter.peek("a")).toMatchObject({ remaining: 6 });
    });

    test("a reservation may be settled for one minute after its lease", async () => {
      const [late, tooLate] = [
        await limiter.reserve("a", { cost: 2, lease: 100 }),
        await limiter.reserve("a", { cost: 2, lease: 100 }),
      ];
      opened.clock.nowMs += 60_099;
      expect(await late.settle(2)).toMatchObject({ policies: [{ charged: 2 }] });
      expect(await limiter.peek("a")).toMatchObject({ remaining: 8 });
      opened.clock.nowMs += 1;
      expect(await tooLate.settle(2)).toBe(false);
      expect(await limiter.peek("a")).toMatchObject({ remaining: 8 });
    });

    test("a late charge counts, and takes nothing back that another call may have", async () => {
      const policies = [
        slidingWindow({ limit: 1000, span: "1h", name: "tokens" }),
        concurrency({ limit: 1, lease: "10m", name: "running" }),
      ];
      const calls = new Limiter(opened.store, policies, { ...opened.modes, name: "calls" });
      const terms = { cost: { tokens: 900, running: 1 }, lease: "10s" } as const;
      const late = await calls.reserve("a", terms);
      opened.clock.nowMs += 10_000;
      const other = await calls.reserve("a", terms);
      expect(other.allowed).toBe(true);
      expect(await late.charge({ tokens: 10 })).toMatchObject({ policies: [{ charged: 10 }, { charged: 0 }] });
      await other.cancel();
      const left = await calls.peek("a", { cost: 0 });
      expect(left.policies.map(({ remaining }) => remaining)).toEqual([990, 1]);
      opened.clock.nowMs += 59_999;
      expect(await late.charge({ tokens: 20 })).toMatchObject({ policies: [{ charged: 20 }, { charged: 0 }] });
      opened.clock.nowMs += 1;
      expect(await late.charge({ tokens: 30 })).toBe(false);
    });

    test("a reservation counts against every policy, and a reset ends it", async () => {
      const two = new Limiter(
        opened.store,
        [slidingWindow({ limit: 10, span: 1000 }), fixedWindow({ limit: 6, span: "1h" })],
        { ...opened.modes, name: "two" },
      );
      const reserved = await two.reserve("a", { cost: 5, lease: "1m" });
      expect(await two.take("a", { cost: 2 })).toMatchObject({ allowed: false, policy: "fixed-window" });
      expect(await reserved.settle(6)).toMatchObject({ policies: [{ debt: 0 }, { charged: 6, overrun: 1, debt: 0 }] });
      expect(await two.take("a")).toMatchObject({ allowed: false, policy: "fixed-window", retryAfterMs: 3_600_000 });
      await two.reset("a");
      expect(await two.reserve("a", { cost: 6, lease: "1m" })).toMatchObject({ allowed: true });
      await two.reset("a");
      expect(await two.take("a", { cost: 6 })).toMatchObject({ allowed: true });
    });

    test("a charge is a total: its part is no longer set aside, a lower one changes nothing, and the lease begins anew", async () => {
      const reserved = await limiter.reserve("a", { cost: 6, lease: 300 });
      opened.clock.nowMs += 200;
      expect(await reserved.charge(2)).toEqual({
        policies: [{ name: "sliding-window", charged: 2, overrun: 0, debt: 0 }],
      });
      expect(await reserved.charge(1)).toMatchObject({ policies: [{ charged: 2 }] });
      expect(await limiter.peek("a")).toMatchObject({ remaining: 4 });
      opened.clock.nowMs += 299;
      expect(await limiter.peek("a")).toMatchObject({ remaining: 4 });
      opened.clock.nowMs += 1;
      expect(await limiter.peek("a")).toMatchObject({ remaining: 8, resetAfterMs: 700 });
      expect(await reserved.charge(11)).toMatchObject({ policies: [{ charged: 11, overrun: 5, debt: 1 }] });
      expect(await reserved.settle(3)).toMatchObject({ policies: [{ charged: 11 }] });
      expect(await reserved.charge(12)).toBe(false);
    });

    test("ends charged: the rest is charged as of the end of the lease, however late it is seen", async () => {
      const ends = "charged";
      const reserved = await limiter.reserve("a", { cost: 6, lease: 100, ends });
      await reserved.charge(1);
      opened.clock.nowMs += 1050;
      // Of the charge nothing is left, and the rest leaves the window 1000 ms after the end.
      expect(await limiter.peek("a", { cost: 6 })).toMatchObject({ allowed: false, remaining: 5, retryAfterMs: 50 });
      expect(await reserved.settle(7)).toMatchObject({ policies: [{ charged: 7, overrun: 1 }] });
      opened.clock.nowMs += 50;
      expect(await limiter.peek("a")).toMatchObject({ remaining: 9 });
      await limiter.reserve("b", { cost: 6, lease: 100, ends });
      opened.clock.nowMs += 1100;
      expect(await limiter.peek("b")).toMatchObject({ remaining: 10 });
    });

    test("ends charged: each policy is as it was at the end, also one whose state was about to expire", async () => {
      const { clock } = opened;
      const policies = [
        fixedWindow({ limit: 7, span: 100, name: "first" }),
        gcra({ limit: 10, span: 1000, name: "second" }),
      ];
      const two = new Limiter(opened.store, policies, { ...opened.modes, name: "two" });
      await two.penalty("a", 2);
      await two.reserve("a", { cost: { first: 1, second: 3 }, lease: 1, ends: "charged" });
      clock.nowMs += 299;
      // 2 at first and 3 after a ms, of which one has drained each 100 ms.
      expect((await two.peek("a")).policies).toMatchObject([{ remaining: 7 }, { remaining: 7, resetAfterMs: 201 }]);
    });

    test("a running call counts until it is settled, and is never charged", async () => {
      const policies = [
        slidingWindow({ limit: 9, span: 1000, name: "tokens" }),
        concurrency({ limit: 1, lease: "1m", name: "running" }),
      ];
      const model = new Limiter(opened.store, policies, { ...opened.modes, name: "model" });
      const reserve = () => model.reserve("a", { cost: { tokens: 2, running: 1 }, lease: 500, ends: "charged" });
      const first = await reserve();
      expect(await first.charge({ tokens: 1, running: 1 })).toMatchObject({
        policies: [{ charged: 1 }, { charged: 0 }],
      });
      expect(await reserve()).toMatchObject({ allowed: false, policy: "running", retryAfterMs: 500 });
      expect(await first.settle({ tokens: 2 })).toMatchObject({ policies: [{ charged: 2 }, { charged: 0, debt: 0 }] });
      await reserve(); // its process dies
      opened.clock.nowMs += 500;
      expect(await reserve()).toMatchObject({ allowed: true, remaining: 0, policy: "running" });
      expect((await model.peek("a", { cost: 0 })).policies[0]).toMatchObject({ remaining: 3 });
    });

    test("reserveAll reserves from all limiters or from none, and settles all at once", async () => {
      const made = (limit: number, own: string) =>
        new Limiter(opened.store, [slidingWindow({ limit, span: 1000, name: "tokens" })], {
          ...opened.modes,
          name: own,
        });
      const [user, team] = [made(10, "user"), made(15, "team")];
      const tag = "acme";
      const reserve = (id: string) =>
        Limiter.reserveAll(
          [
            { limiter: user, id, cost: { tokens: 8 } },
            { limiter: team, id: "t", cost: { tokens: 8 } },
          ],
          { tag, lease: 500 },
        );
      const left = async () =>
        Promise.all([user.peek("ada", { tag }), team.peek("t", { tag })]).then((all) =>
          all.map((one) => one.remaining),
        );
      const first = await reserve("ada");
      expect(first).toMatchObject({ allowed: true, policy: "user:tokens", granted: 8, remaining: 2 });
      expect(await reserve("bob")).toMatchObject({
        allowed: false,
        policy: "team:tokens",
        remaining: 7,
        retryAfterMs: 500,
      });
      expect(await user.peek("bob", { tag })).toMatchObject({ remaining: 10 });
      await first.charge({ tokens: 3, "team:tokens": 4 });
      expect(await left()).toEqual([2, 7]);
      expect(await first.settle({ tokens: 5 })).toEqual({
        policies: [
          { name: "user:tokens", charged: 5, overrun: 0, debt: 0 },
          { name: "team:tokens", charged: 5, overrun: 0, debt: 0 },
        ],
      });
      expect(await left()).toEqual([5, 10]);
    });

    test("wrong charges are refused, and change nothing", async () => {
      const denied = await limiter.reserve("a", { cost: 11, lease: 100 });
      const nothing = {
        code: "ARGUMENT",
        applied: "no",
        message: expect.stringMatching(/: nothing is reserved, because sliding-window denied it; /),
      };
      await expect(denied.settle(1)).rejects.toMatchObject(nothing);
      await expect(denied.charge(1)).rejects.toMatchObject(nothing);
      expect(await denied.cancel()).toBe(false);
      const reserved = await limiter.reserve("a", { cost: { "sliding-window": 3 }, lease: 100 });
      const wrong: [unknown, RegExp][] = [
        [-1, /"llm" settle: cost is -1; it must be an integer number of permits from 0 to 2147483647$/],
        [{ "sliding-window": -1 }, /cost of "sliding-window" is -1; /],
        [
          { sliding: 1 },
          /policy of cost is "sliding"; it must be one of sliding-window; did you mean "sliding-window"\?$/,
        ],
        [2, /cost is 2; it must be an object of permits by policy, as those that are reserved$/],
        [undefined, /cost is undefined; /],
      ];
      for (const [cost, message] of wrong)
        await expect(reserved.settle(cost as never)).rejects.toMatchObject({
          code: "ARGUMENT",
          applied: "no",
          message: expect.stringMatching(message),
        });
      expect(await limiter.peek("a")).toMatchObject({ remaining: 7 });
      await expect(limiter.reserve("a", { cost: 1, lease: 100, ends: "paid" as never })).rejects.toMatchObject({
        message: expect.stringMatching(/ends is "paid"; it must be "free" or "charged"/),
      });
      expect(await reserved.settle({ "sliding-window": 0 })).toMatchObject({ policies: [{ charged: 0 }] });
      expect(await reserved.settle({ "sliding-window": 1 })).toBe(false);
    });
  });
}
