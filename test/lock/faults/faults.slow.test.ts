import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { Lock, memoryStore } from "../../../src/entries/index.ts";
import { until } from "../../harness/until.ts";
import { LockStage } from "../stage.ts";

const stage = new LockStage();
const then = "silence";

describe("lost replies and requests", () => {
  test.each(["cut", "silence"] as const)(
    "the reply of an acquire (%s): the hold is recognised, with the same fence",
    async (then) => {
      const lock = await stage.proxied();
      stage.proxy.dropReplies(1, { then });
      const held = await lock.tryLock({ lease: "60s" });
      expect((await stage.lock().inspect()).fence).toBe(held!.fence);
      expect(held!.leftMs).toBeGreaterThan(50_000);
      expect(await held!.release()).toBe(true);
    },
  );

  test("all replies until the call's deadline: a waiter continues and finds its own hold", async () => {
    const lock = await stage.proxied({ deadline: 300 });
    stage.proxy.dropReplies(4, { then });
    const held = await lock.tryLock({ wait: "4m", lease: "10m" });
    expect((await stage.lock().inspect()).fence).toBe(held!.fence);
    await until("it is given back", async () => [true, false].includes(await held!.release()));
  });

  test("without a wait the call rejects, and a possible hold is released", async () => {
    const lock = await stage.proxied({ deadline: 300 });
    stage.proxy.dropReplies(2, { then });
    await expect(lock.tryLock({ lease: "60s" })).rejects.toMatchObject({ code: "DEADLINE", applied: "unknown" });
    await until("it is given back", async () => !(await lock.isHeld()));
    expect(await stage.lock().tryLock()).not.toBeNull();
  });

  test("a reply that arrives when the lease may have ended never returns a hold", async () => {
    const lock = await stage.proxied();
    stage.proxy.delay(250);
    expect(await lock.tryLock({ lease: 200 })).toBeNull();
    expect(await lock.tryLock({ lease: 200, wait: 600 })).toBeNull();
    stage.proxy.delay(0);
    const held = await lock.tryLock({ lease: "60s", wait: "20s" });
    expect(held!.leftMs).toBeGreaterThan(50_000);
  });

  test("the reply of a release: the lock is free, and the answer is normal", async () => {
    const lock = await stage.proxied();
    const held = await lock.tryLock({ lease: "60s" });
    stage.proxy.dropReplies(1);
    expect(await held!.release()).toBe(true);
    expect(await stage.lock().isHeld()).toBe(false);
  });

  test("the connection is cut during a renewal: the hold continues", async () => {
    const lock = new Lock(await storeOf(stage.proxied()), "nightly", { watchdogLease: 6000 });
    const held = await lock.tryLock();
    for (let i = 0; i < 3; i++) {
      stage.proxy.dropReplies(1);
      await pause(2200);
    }
    expect(held!.signal.aborted).toBe(false);
    expect(held!.leftMs).toBeGreaterThan(0);
    expect(await held!.release()).toBe(true);
  });

  test.each(["cut", "silence"] as const)(
    "requests that never arrive (%s): each is finally applied once",
    async (then) => {
      const lock = await stage.proxied();
      stage.proxy.dropRequests(1, { then });
      const held = await lock.tryLock({ lease: "60s" });
      stage.proxy.dropRequests(1, { then });
      expect(await held!.extend()).toBe(true);
      stage.proxy.dropRequests(1);
      expect(await held!.release()).toBe(true);
      expect(await stage.lock().isHeld()).toBe(false);
    },
  );

  test("SCRIPT FLUSH between any two calls has no effect", async () => {
    const lock = await stage.proxied();
    for (let i = 0; i < 5; i++) {
      await stage.raw.script("FLUSH");
      const held = await lock.tryLock();
      await stage.raw.script("FLUSH");
      expect(await held!.extend()).toBe(true);
      await stage.raw.script("FLUSH");
      expect(await held!.release()).toBe(true);
    }
  });
});

describe("unreachable servers", () => {
  test("the signal aborts when the lease may have ended, although nothing answers", async () => {
    // It is to end.
    const lock = new Lock(await storeOf(stage.proxied({ deadline: 200 })), "nightly", { watchdogLease: 3000 });
    const held = await lock.tryLock({ wait: "4m" });
    stage.proxy.refuse(true);
    stage.proxy.cut();
    await until("the signal aborts", () => held!.signal.aborted);
    expect(held!.signal.reason).toMatchObject({ code: "LOST", message: expect.stringMatching(/may be over/) });
    await expect(held!.release()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    stage.proxy.refuse(false);
    await until("the release succeeds", async () => [true, false].includes(await held!.release()));
  });

  test("LOST says why the last renewal failed", async () => {
    const clock = { nowMs: 0 };
    const store = await storeOf(stage.proxied({ deadline: 200 }));
    const lock = new Lock({ ...store, leaseClock: () => clock.nowMs }, "nightly");
    const held = await lock.tryLock({ lease: "60s", wait: "4m" });
    stage.proxy.refuse(true);
    stage.proxy.cut();
    await expect(held!.extend()).rejects.toMatchObject({ transient: true });
    clock.nowMs += 60_000;
    expect(held!.signal.aborted).toBe(true);
    expect(held!.signal.reason).toMatchObject({
      code: "LOST",
      message: expect.stringMatching(/may be over \(renewal: /),
      cause: { transient: true },
    });
    stage.proxy.refuse(false);
  });

  test("a waiter rejects with the failure at the end of its wait, or gets the lock when the server is back", async () => {
    const lock = await stage.proxied({ deadline: 150 });
    stage.proxy.refuse(true);
    stage.proxy.cut();
    await expect(lock.tryLock({ wait: 300 })).rejects.toMatchObject({ name: "OrielError", transient: true });
    const waits = lock.tryLock({ wait: "4m", lease: "10m" });
    await pause(300);
    stage.proxy.refuse(false);
    const held = await waits;
    await until("it is given back", async () => [true, false].includes(await held!.release()));
    expect(await stage.lock().isHeld()).toBe(false);
  });

  test("a server stands still for longer than the lease: the holder knows before any answer", async () => {
    const held = await stage.lock({ deadline: 200 }).tryLock({ lease: 500, wait: "4m" });
    stage.server.pause();
    const { signal } = held!;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    expect(held!.leftMs).toBe(0);
    stage.server.resume();
    const next = await stage.lock({ deadline: "1m" }).tryLock({ wait: "4m" });
    expect(next!.fence).toBeGreaterThan(held!.fence);
  });
});

describe("clocks and event loops", () => {
  test("a blocked event loop: the signal reads as aborted before any timer or reply", async () => {
    const store = memoryStore();
    const held = await new Lock(store, "nightly").tryLock({ lease: 40, wait: "20s" });
    const endMs = performance.now() + 60;
    while (performance.now() < endMs);
    expect(held!.signal.aborted).toBe(true);
    expect(held!.leftMs).toBe(0);
  });

  test("the process's wall clock has no effect", async () => {
    const lock = stage.lock();
    const held = await lock.tryLock({ lease: "60s" });
    for (const stepMs of [3_600_000, -3_600_000]) {
      const wall = vi.spyOn(Date, "now").mockReturnValue(Date.now() + stepMs);
      try {
        expect(held!.leftMs).toBeGreaterThan(50_000);
        expect(await held!.extend()).toBe(true);
        expect(await lock.tryLock()).toBeNull();
      } finally {
        wall.mockRestore();
      }
    }
    expect(await held!.release()).toBe(true);
  });

  test("a release during a renewal is never lost, and the next hold remains", async () => {
    const lock = stage.lock();
    const other = stage.lock();
    for (let i = 0; i < 300; i++) {
      const held = await lock.tryLock({ lease: "60s", wait: "20s" });
      const extended = held!.extend();
      const next = other.tryLock({ lease: "60s", wait: "20s" });
      expect(await held!.release()).toBe(true);
      const late = held!.extend();
      expect([await extended, await late]).toEqual([false, false]);
      expect(held!.signal.aborted).toBe(false);
      expect((await next)!.fence).toBeGreaterThan(held!.fence);
      expect(await (await next)!.release()).toBe(true);
    }
  });
});

/** The store under a stage's lock, for another lock of the same name. */
async function storeOf(lock: Promise<Lock>) {
  await lock;
  return stage.lastStore;
}
