import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MultiSemaphore, Semaphore } from "../../src/entries/index.ts";
import type { OpenStore } from "../lock/contract/stores.ts";

const LIMIT = 3;

/** The promises of a `Semaphore` of one process and a `MultiSemaphore` of another one. */
export function semaphoreSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(name, () => {
    let opened: OpenStore;
    let semaphore: Semaphore;
    let multi: MultiSemaphore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());
    beforeEach(async () => {
      await opened.clear();
      semaphore = new Semaphore(opened.store, "exports", { ...opened.modes, limit: LIMIT });
      multi = new MultiSemaphore(opened.other, "exports", { ...opened.modes, limit: LIMIT });
    });

    test("no more than limit permits are in use, single or several; each is held until its release", async () => {
      const one = (await semaphore.tryAcquire({ lease: "60s" }))!;
      expect(one.fence).toBeNull();
      expect(one.leftMs).toBeGreaterThan(50_000);
      const two = (await multi.tryAcquire(2, { lease: "60s" }))!;
      expect(await semaphore.tryAcquire()).toBeNull();
      expect(await multi.tryAcquire(1)).toBeNull();
      expect(await one.release()).toBe(true);
      expect(one.leftMs).toBe(0);
      expect(await multi.tryAcquire(2)).toBeNull();
      const again = (await semaphore.tryAcquire({ lease: "60s" }))!;
      expect(await two.release()).toBe(true);
      expect(await two.release()).toBe(true);
      expect(await two.extend("1s")).toBe(false);
      expect(await again.extend("60s")).toBe(true);
      const rest = await multi.tryAcquire(2, { lease: "60s" });
      expect(rest?.leftMs).toBeGreaterThan(50_000);
      expect(await Promise.all([again.release(), rest!.release()])).toEqual([true, true]);
    });

    test("a permit that is lost while the function runs rejects it, and the result is on the error", async () => {
      const lost = semaphore.withPermit(
        async (permit) => {
          while (permit.leftMs > 0) await pause(5);
          // Others have all permits, so that this one is certainly over.
          const all = await multi.acquire(LIMIT, { wait: "20s", lease: "60s" });
          return [permit.signal.aborted, await all.release()];
        },
        { lease: 300, wait: "20s" },
      );
      await expect(lost).rejects.toMatchObject({ code: "LOST", operation: "withPermit", result: [true, true] });
    });

    test("a waiter gets a permit soon after its release, and all are served", async () => {
      const held = await Promise.all([1, 2, 3].map(() => semaphore.acquire({ lease: "60s" })));
      let inUse = LIMIT;
      let most = 0;
      const work = async (permits: number) => {
        inUse += permits;
        most = Math.max(most, inUse);
        await pause(1);
        inUse -= permits;
      };
      const wait = "30s";
      const done = Array.from({ length: 12 }, (_, i) =>
        i % 2 === 0 ? semaphore.withPermit(() => work(1), { wait }) : multi.withPermits(2, () => work(2), { wait }),
      );
      await pause(30);
      expect(most).toBe(0);
      for (const each of held) {
        inUse--;
        await each.release();
      }
      await Promise.all(done);
      expect(most).toBeLessThanOrEqual(LIMIT);
    });

    test("a wait ends with DEADLINE, an abort with its reason, and neither keeps a permit", async () => {
      const held = await multi.acquire(LIMIT, { lease: "60s" });
      await expect(semaphore.acquire({ wait: 40 })).rejects.toMatchObject({
        code: "DEADLINE",
        transient: true,
        message: expect.stringContaining("no permit was free within 40 ms (limit 3)"),
      });
      const reason = new RangeError("enough");
      const abort = new AbortController();
      const waits = semaphore.withPermit(() => 1, { wait: "20s", signal: abort.signal });
      setTimeout(() => abort.abort(reason), 20);
      await expect(waits).rejects.toBe(reason);
      await held.release();
      // Less than the lease that the caller would have had. It may give up its place after the release.
      const all = await multi.acquire(LIMIT, { wait: "20s", lease: "60s" });
      expect(await all.release()).toBe(true);
    });

    test("a lease ends by itself, whatever the leases of others are", async () => {
      const long = (await semaphore.tryAcquire({ lease: "60s" }))!;
      const short = await multi.acquire(2, { lease: 150, wait: "20s" }); // an answer that comes after the lease is asked again
      const waited = await semaphore.acquire({ wait: "20s", lease: "60s" });
      expect(short.leftMs).toBe(0);
      expect(short.signal.aborted).toBe(true);
      expect(long.leftMs).toBeGreaterThan(30_000);
      expect(await multi.tryAcquire(2)).toBeNull();
      await Promise.all([long.release(), waited.release()]);
    });

    test("a watchdog renews a permit that is acquired without a lease", async () => {
      const watched = new Semaphore(opened.store, "exports", { ...opened.modes, limit: 1, watchdogLease: 6000 });
      const held = await watched.acquire();
      // A renewal after a third of the lease makes the time that is left longer.
      let leastMs = held.leftMs;
      await expect
        .poll(
          () => {
            leastMs = Math.min(leastMs, held.leftMs);
            return held.leftMs - leastMs;
          },
          { interval: 10 },
        )
        .toBeGreaterThan(100);
      expect(await watched.tryAcquire()).toBeNull();
      expect(await held.release()).toBe(true);
    });
  });
}
