import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fixedWindow, Limiter, slidingWindow } from "../../../src/entries/index.ts";
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
  });
}
