import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { Lock } from "../../../src/entries/index.ts";
import { holdingTimers } from "../../harness/clock/held-timers.ts";
import { until } from "../../harness/until.ts";
import type { OpenStore } from "./stores.ts";

const FREE = { isHeld: false, fence: null, leftMs: 0, waitingProcesses: 0 };

/** What operators see of a lock, and how they release it. */
export function operatorSuite(opened: () => OpenStore): void {
  describe("for operators", () => {
    let lock: Lock;
    /** The same lock, as another process has it. */
    let other: Lock;
    beforeEach(async () => {
      await opened().clear();
      lock = new Lock(opened().store, "nightly", opened().modes);
      other = new Lock(opened().other, "nightly", opened().modes);
    });

    test("isHeld and inspect report the holder and the waiting processes", async () => {
      expect(await lock.isHeld()).toBe(false);
      expect(await lock.inspect()).toEqual(FREE);
      const held = (await lock.tryLock({ lease: "60s" }))!;
      expect(await Promise.all([lock.isHeld(), other.isHeld()])).toEqual([true, true]);
      const waits = other.tryLock({ wait: "20s", lease: "60s" });
      await until("it waits", async () => (await lock.inspect()).waitingProcesses === 1);
      const state = await other.inspect();
      expect(state).toMatchObject({ isHeld: true, fence: held.fence });
      expect(state.leftMs).toBeGreaterThan(50_000);
      expect(state.leftMs).toBeLessThanOrEqual(60_000);
      await held.release();
      const next = (await waits)!;
      expect(await lock.inspect()).toMatchObject({ isHeld: true, fence: next.fence, waitingProcesses: 0 });
      await next.release();
      expect(await lock.inspect()).toEqual(FREE);
    });

    test("forceRelease ends any hold, and the holder learns of it", async () => {
      expect(await lock.forceRelease()).toBe(false);
      const held = (await lock.tryLock({ lease: "60s" }))!;
      expect(await other.forceRelease()).toBe(true);
      expect(await other.forceRelease()).toBe(false);
      const next = (await other.tryLock({ lease: "60s" }))!;
      expect(next.fence).toBeGreaterThan(held.fence);
      expect(await held.extend()).toBe(false);
      expect(held.signal.reason).toMatchObject({ code: "LOST" });
      expect(await held.release()).toBe(false);
      expect(await next.release()).toBe(true);
    });

    test("forceRelease with a fence ends only that hold", async () => {
      const first = (await lock.tryLock({ lease: "60s" }))!;
      await first.release();
      const held = (await lock.tryLock({ lease: "60s" }))!;
      expect(await other.forceRelease({ fence: first.fence })).toBe(false);
      expect(await lock.isHeld()).toBe(true);
      expect(await other.forceRelease({ fence: held.fence })).toBe(true);
      await expect(lock.forceRelease({ fence: 0.5 })).rejects.toMatchObject({
        code: "ARGUMENT",
        message: expect.stringMatching(/^Lock "nightly" forceRelease: fence is 0.5; it must be a fence/),
      });
    });

    test("forceRelease wakes a waiter, also in the process of the holder", async () => {
      for (const waiter of [lock, other]) {
        const held = (await lock.tryLock({ lease: "60s", wait: "20s" }))!;
        // Without the notice it would ask again after 3 s at the earliest.
        const next = await holdingTimers(2500, async () => {
          const waits = waiter.tryLock({ wait: "20s", lease: "60s" });
          await until("it waits", async () => (await lock.inspect()).waitingProcesses === 1);
          await pause(30);
          expect(await other.forceRelease({ fence: held.fence })).toBe(true);
          return (await waits)!;
        });
        expect(next.fence).toBeGreaterThan(held.fence);
        expect(await next.release()).toBe(true);
      }
    });
  });
}
