import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concurrency, fixedWindow, gcra, Limiter, slidingWindow } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";

/** Costs by policy. */
export function costSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`${name}: costs by policy`, () => {
    let opened: OpenStore;
    let limiter: Limiter;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(async () => {
      await opened.clear();
      const policies = [
        slidingWindow({ limit: 3, span: 1000, name: "requests" }),
        fixedWindow({ limit: 100, span: "1m", name: "tokens" }),
        concurrency({ limit: 2, lease: "1m", name: "running" }),
      ];
      limiter = new Limiter(opened.store, policies, { ...opened.modes, name: "llm" });
    });
    afterAll(() => opened?.close());
    const left = async (id = "a") => (await limiter.peek(id, { cost: 0 })).policies.map(({ remaining }) => remaining);

    test("each policy is charged its own cost, and one that is left out nothing", async () => {
      const taken = await limiter.take("a", { cost: { requests: 1, tokens: 60 } });
      expect(taken).toMatchObject({ allowed: true, policy: "requests", granted: 1, remaining: 2 });
      expect(await left()).toEqual([2, 40, 2]);
      const denied = await limiter.take("a", { cost: { requests: 1, tokens: 41 } });
      expect(denied).toMatchObject({ allowed: false, policy: "tokens", granted: 0, retryAfterMs: 60_000 });
      expect(denied.policies.map(({ allowed }) => allowed)).toEqual([true, false, true]);
      expect(await left()).toEqual([2, 40, 2]);
      expect(await limiter.acquire("a", { wait: 0, cost: { tokens: 40 } })).toMatchObject({
        policy: "tokens",
        granted: 40,
      });
      expect(await left()).toEqual([2, 0, 2]);
    });

    test("peek asks with them; equal calls of a turn each count", async () => {
      expect(await limiter.peek("a", { cost: { tokens: 101 } })).toMatchObject({
        allowed: false,
        retryAfterMs: Number.POSITIVE_INFINITY,
      });
      const all = await Promise.all([0, 1, 2].map(() => limiter.take("a", { cost: { running: 1, tokens: 7 } })));
      expect(all.map(({ allowed }) => allowed)).toEqual([true, true, false]);
      expect(await left()).toEqual([3, 86, 0]);
      await limiter.release("a", all[0]!.permit!);
      expect(await left()).toEqual([3, 86, 1]);
    });

    test("a repeated request has them in its question", async () => {
      const cost = { requests: 1, tokens: 10 };
      const first = await limiter.take("a", { cost, requestId: "r" });
      expect(await limiter.take("a", { cost: { tokens: 10, requests: 1 }, requestId: "r" })).toEqual(first);
      await expect(limiter.take("a", { cost: { tokens: 11 }, requestId: "r" })).rejects.toMatchObject({
        code: "MISMATCH",
      });
      expect(await left()).toEqual([2, 90, 2]);
    });

    test("takeAll has costs by policy of each limiter", async () => {
      const team = new Limiter(opened.store, [gcra({ limit: 50, span: "1m", name: "tokens" })], {
        ...opened.modes,
        name: "team",
      });
      const ask = () =>
        Limiter.takeAll(
          [
            { limiter, id: "a", cost: { requests: 1, tokens: 30 } },
            { limiter: team, id: "t", cost: { tokens: 30 } },
          ],
          { tag: "t" },
        );
      expect(await ask()).toMatchObject({ allowed: true, policy: "llm:requests", granted: 1 });
      expect(await ask()).toMatchObject({ allowed: false, policy: "team:tokens", remaining: 20, retryAfterMs: 12_000 });
      const { policies } = await limiter.peek("a", { cost: 0, tag: "t" });
      expect(policies.map(({ remaining }) => remaining)).toEqual([2, 70, 2]);
    });

    test("a wrong name, value or companion is refused before anything is asked", async () => {
      const wrong: [unknown, RegExp][] = [
        [
          { tokns: 1 },
          /policy of cost is "tokns"; it must be one of requests, tokens, running; did you mean "tokens"\?/,
        ],
        [{ tokens: -1 }, /cost of "tokens" is -1; it must be an integer number of permits from 0 to 2147483647$/],
        [{ tokens: undefined }, /cost of "tokens" is undefined; /],
        [{ tokens: 2 ** 31 }, /cost of "tokens" is 2147483648; /],
        [
          {},
          /cost is an object; it must be an integer number of permits, or an object with those of one policy or more$/,
        ],
        [new Map([["tokens", 1]]), /cost is a Map; it must be /],
        [[1, 2, 3], /cost is an array of 3; it must be /],
        [null, /cost is null; it must be /],
      ];
      for (const [cost, message] of wrong) {
        const refused = { code: "ARGUMENT", applied: "no", message: expect.stringMatching(message) };
        const options = { cost: cost as never };
        // Null is a given cost, but the default of a left-out one stands for it.
        if (cost !== null) await expect(limiter.take("a", options)).rejects.toMatchObject(refused);
        if (cost !== null) await expect(limiter.peek("a", options)).rejects.toMatchObject(refused);
        const all = Limiter.takeAll([{ limiter, id: "a", ...options }], { tag: "t" });
        await expect(all).rejects.toMatchObject(refused);
      }
      await expect(limiter.take("a", { cost: { tokens: 5 }, atLeast: 1 })).rejects.toMatchObject({
        code: "ARGUMENT",
        message: expect.stringMatching(/atLeast is 1; leave it out, because the cost is by policy/),
      });
      expect(await left()).toEqual([3, 100, 2]);
    });
  });
}
