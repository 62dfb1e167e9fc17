import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concurrency, Limiter, slidingWindow } from "../../src/entries/index.ts";
import { look, take } from "../../src/holds/steps/steps.ts";
import { takeHold } from "../../src/holds/waiters.ts";
import { keyPrefixOf, turnKeyOf } from "../../src/limits/limiter/steps/decide.ts";
import { until } from "../harness/until.ts";
import { onMemory, onRedis } from "../lock/contract/stores.ts";

type Opened = Awaited<ReturnType<typeof onMemory>> & { raw?: { set(key: string, value: string): Promise<unknown> } };

describe.each([
  ["memory", () => onMemory(true) as Promise<Opened>],
  ["redis", () => onRedis() as Promise<Opened>],
])("%s: callers that wait for lent permits", (_name, open) => {
  let opened: Opened;
  let limiters: Limiter[];
  let turn: string;
  beforeAll(async () => {
    opened = await open();
    const policies = [concurrency({ limit: 1, lease: "1h" }), slidingWindow({ limit: 1000, span: "1h" })];
    limiters = [opened.store, opened.other].map((store) => new Limiter(store, policies, { name: "turns" }));
    turn = turnKeyOf(keyPrefixOf(opened.store, "turns", "id", undefined));
  });
  beforeEach(() => opened.clear());
  afterAll(() => opened?.close());

  /** Waits until this number of callers have the turn or a place. */
  const waiting = (callers: number) =>
    until(`${callers} callers wait`, async () => {
      const { holds, places } = await opened.store.run(look, turn, undefined);
      return holds.length + places.length === callers;
    });

  test("pass in order of arrival over all processes, and leave nothing in the store", async () => {
    const [own, other] = limiters as [Limiter, Limiter];
    let { permit } = await own.take("id");
    const order: number[] = [];
    const callers: Promise<string>[] = [];
    for (const [i, limiter] of [other, own, own, other].entries()) {
      const caller = limiter.acquire("id", { wait: "1h" }).then((decision) => {
        order.push(i);
        expect(decision.allowed).toBe(true);
        return decision.permit!;
      });
      callers.push(caller);
      await waiting(i + 1);
    }
    for (const [i, caller] of callers.entries()) {
      await own.release("id", permit!);
      permit = await caller;
      expect(order).toEqual(callers.slice(0, i + 1).map((_, before) => before));
    }
    await until("the queue is gone", async () => (await opened.expiryOf(turn)) === undefined);
  });

  test("are not overtaken by newcomers, whose denial says when to ask again", async () => {
    const [own, other] = limiters as [Limiter, Limiter];
    const request = { permits: 1, limit: 1, leaseMs: 3_600_000, waitMs: 0, signal: undefined, replicas: 0 };
    expect(await takeHold(opened.other, turn, request)).not.toBe(null);
    for (const limiter of [own, other])
      expect(await limiter.acquire("id", { wait: 0 })).toMatchObject({
        allowed: false,
        granted: 0,
        remaining: 1,
        retryAfterMs: 1,
      });
    expect(await own.acquire("id", { cost: 2 })).toMatchObject({
      allowed: false,
      retryAfterMs: Number.POSITIVE_INFINITY,
    });
    opened.clock.nowMs += 3_600_001; // the turn of a dead process ends with its lease
    expect(await own.acquire("id", { wait: 0 })).toMatchObject({ allowed: true });
  });

  test("are not kept out by dead ones, also if none of them waits", async () => {
    const [own] = limiters as [Limiter];
    const tickets = [1, 2].map((i) => ({
      token: `of-dead-process-${i}`.padEnd(20, "."),
      permits: 1,
      limit: 1,
      leaseMs: 5000,
    }));
    await opened.store.run(take, turn, { process: "of-dead-proces", tickets, mayWait: true, isGuess: false });
    opened.clock.nowMs += 5001; // the lease of the first
    expect(await own.acquire("id", { wait: 0 })).toMatchObject({ allowed: false, retryAfterMs: 1 });
    opened.clock.nowMs += 151; // the trial of the second
    expect(await own.acquire("id", { wait: 0 })).toMatchObject({ allowed: true });
  });

  test("give up their place when their wait ends or their signal aborts", async () => {
    const [own, other] = limiters as [Limiter, Limiter];
    const { permit } = await own.take("id");
    const controller = new AbortController();
    const aborted = other.acquire("id", { wait: "1h", signal: controller.signal });
    await waiting(1);
    const last = other.acquire("id", { wait: "2h" });
    await waiting(2);
    expect(await own.acquire("id", { wait: 50 })).toMatchObject({ allowed: false, granted: 0, policy: "concurrency" });
    await waiting(2);
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await waiting(1);
    await own.release("id", permit!);
    expect(await last).toMatchObject({ allowed: true });
  });

  test("get the permit that was taken for them, although their queue is damaged meanwhile", async ({ skip }) => {
    const { raw } = opened;
    if (!raw) return skip("a memory store has no foreign bytes");
    const [own] = limiters as [Limiter];
    const { permit } = await own.take("id");
    const waits = own.acquire("id", { wait: "1h" });
    await waiting(1);
    await raw.set(turn, "mine");
    await own.release("id", permit!);
    expect(await waits).toMatchObject({ allowed: true, permit: expect.any(String) });
  });

  test("reject with CORRUPT while their queue has foreign bytes, until a reset", async ({ skip }) => {
    const { raw } = opened;
    if (!raw) return skip("a memory store has no foreign bytes");
    await raw.set(turn, "mine");
    const [own] = limiters as [Limiter];
    await expect(own.acquire("id")).rejects.toMatchObject({ code: "CORRUPT" });
    await own.reset("id");
    expect(await own.acquire("id")).toMatchObject({ allowed: true });
  });
});
