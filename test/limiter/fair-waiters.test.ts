import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/entries/memory-store.ts";
import { FairWaiters } from "../../src/limits/limiter/client/turns.ts";
import type { Decision } from "../../src/limits/limiter/decision.ts";
import { Limiter } from "../../src/limits/limiter/limiter.ts";
import { concurrency, slidingWindow } from "../../src/limits/limiter/policies.ts";

describe("callers of acquire", () => {
  const limiterOf = (policy = slidingWindow({ limit: 1, span: "1h" })) =>
    new Limiter(memoryStore(), [policy], { name: "wait" });

  test("an abort right after the call takes effect at once", async () => {
    const limiter = limiterOf();
    await limiter.take("id");
    const controller = new AbortController();
    const waiting = limiter.acquire("id", { wait: "2h", signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test("no caller overtakes the queue when its last one gives up", async () => {
    const turns = new FairWaiters();
    const order: string[] = [];
    let open!: (decision: Decision) => void;
    const passed = { allowed: true } as Decision;
    const wait = (name: string, ask: () => Promise<Decision>, signal?: AbortSignal) =>
      turns.wait(
        "id",
        60_000,
        () => 0,
        signal,
        () => {
          order.push(name);
          return ask();
        },
      );
    const controller = new AbortController();
    const opened = new Promise<Decision>((resolve) => {
      open = resolve;
    });
    const first = wait("first", () => opened);
    const last = wait("last", async () => passed, controller.signal);
    controller.abort(new Error("enough"));
    await expect(last).rejects.toThrow("enough");
    const late = wait("late", async () => passed);
    await new Promise((resolve) => setTimeout(resolve, 20)); // a second waiter would have asked
    expect(order).toEqual(["first"]);
    open(passed);
    await Promise.all([first, late]);
    expect(order).toEqual(["first", "late"]);
  });

  test("a permit that is released early is available before its lease ends", async () => {
    const limiter = limiterOf(concurrency({ limit: 1, lease: "1h" }));
    const { permit } = await limiter.take("id");
    const waiting = limiter.acquire("id", { wait: "1h" });
    await new Promise((resolve) => setTimeout(resolve, 50)); // most of the time it waits by then
    await limiter.release("id", permit!);
    expect((await waiting).allowed).toBe(true);
    expect((await limiter.acquire("id", { wait: 80 })).allowed).toBe(false);
  });
});
