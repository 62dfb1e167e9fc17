import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Lock, type LockOptions, type OrielError } from "../../../src/entries/index.ts";
import { lockKeyOf } from "../../../src/holds/lock/lock-state.ts";
import { until } from "../../harness/until.ts";
import type { OpenStore } from "./stores.ts";
import { operatorSuite } from "./suite-operators.ts";
import { setSuite } from "./suite-sets.ts";

/** It is renewed after a third of it. The rest is for a slow machine. */
const RENEWED_MS = 6000;

/** The promises of a lock over one store. Times are real, so a lease that must not have ended is far from its end. */
export function lockSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(name, () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    describe("without a step of the clock", () => {
      let lock: Lock;
      /** The same lock, as another process has it. */
      let other: Lock;
      beforeEach(async () => {
        await opened.clear();
        lock = new Lock(opened.store, "nightly", opened.modes);
        other = new Lock(opened.other, "nightly", opened.modes);
      });

      test("there is one holder at a time; a call without a wait returns null at once", async () => {
        const held = await lock.tryLock({ lease: "60s" });
        expect(held).toMatchObject({ fence: expect.any(Number) });
        expect(held!.leftMs).toBeGreaterThan(50_000);
        expect(held!.signal.aborted).toBe(false);
        expect(await lock.tryLock()).toBeNull();
        expect(await other.tryLock({ wait: 0 })).toBeNull();
        expect(await held!.release()).toBe(true);
        const next = await other.tryLock();
        expect(next!.fence).toBeGreaterThan(held!.fence);
        await next!.release();
      });

      test("locks of different names, of any kind, are independent", async () => {
        const names = ["%", "{}", "a{b}c", "*?[x]", "ä€𝄞", "x".repeat(10_000)];
        const held = await Promise.all(
          names.map((each) => new Lock(opened.store, each, opened.modes).tryLock({ lease: "60s" })),
        );
        expect(held.every((each) => each !== null)).toBe(true);
        expect(await Promise.all(held.map((each) => each!.release()))).toEqual(names.map(() => true));
      });

      test("its only key expires a week after the lease", async () => {
        const held = await lock.tryLock({ lease: "60s" });
        const key = lockKeyOf(opened.store, "nightly");
        const weekMs = 604_800_000;
        const endMs = Math.floor(held!.fence / 1000) + 60_000;
        expect(await opened.expiryOf(key)).toBe(endMs + weekMs);
        await held!.release();
        expect(await opened.expiryOf(key)).toBe(endMs + weekMs);
      });

      test("a release wakes a waiter long before the lease would end", async () => {
        const held = await lock.tryLock({ lease: "60s" });
        const waits = other.tryLock({ wait: "20s", lease: "60s" });
        await pause(50);
        await held!.release();
        const next = await waits;
        expect(next!.fence).toBeGreaterThan(held!.fence);
        await next!.release();
      });

      test("a second release returns the same answer", async () => {
        const held = await lock.tryLock();
        expect(await Promise.all([held!.release(), held!.release()])).toEqual([true, true]);
        expect(await held!.release()).toBe(true);
        expect(held!.leftMs).toBe(0);
        expect(held!.signal.aborted).toBe(false);
        expect(await held!.extend()).toBe(false);
      });

      test("the next renewal finds that the store lost a hold, and the fence still rises", async () => {
        const watched = new Lock(opened.store, "nightly", { ...opened.modes, watchdogLease: RENEWED_MS });
        const held = await watched.tryLock();
        await opened.clear();
        await new Promise((resolve) => held!.signal.addEventListener("abort", resolve));
        expect(held!.signal.reason).toMatchObject({ code: "LOST", message: expect.stringMatching(/no longer has it/) });
        const next = await other.tryLock();
        expect(next!.fence).toBeGreaterThan(held!.fence);
        expect(await held!.release()).toBe(false);
        expect(await next!.release()).toBe(true);
      });

      test("waiters in a process get the lock in order", async () => {
        const order: number[] = [];
        let inside = 0;
        const step = (i: number) => async () => {
          expect(++inside).toBe(1);
          order.push(i);
          await pause(1);
          inside--;
        };
        const first = await lock.tryLock();
        const runs = Array.from({ length: 20 }, (_, i) => lock.withLock(step(i), { wait: "20s" }));
        await first!.release();
        await Promise.all(runs);
        expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
      });

      test("an abort ends one wait with its reason; the others continue", async () => {
        const held = await lock.tryLock({ lease: "60s" });
        const abort = new AbortController();
        const waits = [
          other.tryLock({ wait: "20s", signal: abort.signal }),
          other.tryLock({ wait: "20s" }),
          other.tryLock({ wait: "20s", signal: abort.signal }),
        ];
        await pause(30);
        const reason = new RangeError("enough");
        abort.abort(reason);
        await expect(waits[0]).rejects.toBe(reason);
        await expect(waits[2]).rejects.toBe(reason);
        await held!.release();
        expect(await (await waits[1])!.release()).toBe(true);
        await expect(lock.tryLock({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      });

      test("an abort during the request leaves no hold behind", async () => {
        const abort = new AbortController();
        const taken = [lock.tryLock({ signal: abort.signal }), lock.tryLock({ wait: "20s", signal: abort.signal })];
        abort.abort(new RangeError("enough"));
        for (const each of taken) await expect(each).rejects.toThrowError("enough");
        expect(await (await other.tryLock({ wait: "20s" }))!.release()).toBe(true);
      });

      test("withLock runs its function under the lock, returns its result or error, and releases", async () => {
        expect(await lock.withLock(async (held) => [held.leftMs > 0, await other.tryLock()])).toEqual([true, null]);
        await expect(lock.withLock(() => Promise.reject(new RangeError("mine")))).rejects.toThrowError("mine");
        const held = await lock.tryLock();
        const refused = { code: "DEADLINE", operation: "withLock", transient: true, applied: "no" };
        await expect(other.withLock(() => "ran", { wait: 0 })).rejects.toMatchObject(refused);
        await held!.release();
        expect(await other.withLock(() => "ran", { wait: 0 })).toBe("ran");
      });

      test("withLock rejects with LOST if the hold was taken away, and the result is on the error", async () => {
        const lost = lock.withLock(async () => ({ freed: await other.forceRelease() }));
        await expect(lost).rejects.toMatchObject({ code: "LOST", operation: "withLock", result: { freed: true } });
        const thrown = lock.withLock(async () => {
          await other.forceRelease();
          throw new RangeError("mine");
        });
        await expect(thrown).rejects.toThrowError("mine");
        expect(await lock.withLock(async (held) => [await held.release(), "ran"])).toEqual([true, "ran"]);
      });
    });

    operatorSuite(() => opened);
    setSuite(() => opened);

    // These wait for a lease to end: all at the same time, each on a lock of its own.
    describe.concurrent("when the clock steps", () => {
      let locks = 0;
      const fresh = (options?: LockOptions) => {
        const name = `nightly ${++locks}`;
        const { modes, store } = opened;
        const [lock, other] = [new Lock(store, name, { ...modes, ...options }), new Lock(opened.other, name, modes)];
        return { key: lockKeyOf(opened.store, name), lock, other };
      };

      test("a waiter checks again when a holder's lease ends; the holder then knows its loss", async () => {
        const { lock, other } = fresh();
        const held = await lock.tryLock({ lease: 300, wait: "20s" });
        const next = await other.tryLock({ wait: "20s", lease: "60s" });
        expect(next!.fence).toBeGreaterThan(held!.fence);
        expect(held!.signal.aborted).toBe(true);
        expect(held!.signal.reason).toMatchObject({ name: "OrielError", code: "LOST" });
        expect(held!.leftMs).toBe(0);
        expect(await held!.extend()).toBe(false);
        expect(await held!.release()).toBe(false);
        expect(await next!.release()).toBe(true);
      });

      test("code that blocks the process beyond its lease sees the loss with its next line, and withLock rejects", async () => {
        const { lock, other } = fresh();
        const seen: unknown[] = [];
        const error = await lock
          .withLock(
            (held) => {
              const { signal } = held;
              held.assertHeld();
              seen.push(signal.aborted);
              // Timers are late while this runs.
              while (held.leftMs > 0);
              seen.push(signal.aborted);
              for (const look of [() => signal.throwIfAborted(), () => held.assertHeld()])
                try {
                  look();
                } catch (lost) {
                  seen.push((lost as OrielError).code);
                }
              return other.tryLock({ wait: "20s", lease: "60s" });
            },
            { lease: 1500, wait: "20s" }, // longer than a slow machine takes to begin the function
          )
          .catch((lost) => lost);
        expect(seen).toEqual([false, true, "LOST", "LOST"]);
        expect(error).toMatchObject({ code: "LOST", operation: "withLock", applied: "unknown", transient: false });
        expect(await error.result.release()).toBe(true);
      });

      test("the wait ends in time", async () => {
        const { lock, other } = fresh();
        const held = await lock.tryLock({ lease: "60s" });
        const startMs = performance.now();
        expect(await other.tryLock({ wait: 80 })).toBeNull();
        expect(performance.now() - startMs).toBeGreaterThan(75);
        await held!.release();
      });

      test("after its expiry a hold cannot be extended or taken again, and its release returns false", async () => {
        const { lock, other } = fresh();
        const held = await lock.tryLock({ lease: 300, wait: "20s" });
        await pause(350);
        expect(await held!.extend("60s")).toBe(false);
        expect(held!.leftMs).toBe(0);
        expect(await other.isHeld()).toBe(false);
        const next = await other.tryLock({ lease: "60s" });
        expect(await Promise.all([held!.release(), held!.release()])).toEqual([false, false]);
        expect(await lock.tryLock()).toBeNull();
        expect(await next!.release()).toBe(true);
      });

      test("extend never shortens a hold", async () => {
        const { lock, other } = fresh();
        const held = await lock.tryLock({ lease: "60s" });
        for (const lease of ["2h", 100] as const) {
          expect(await held!.extend(lease)).toBe(true);
          expect(held!.leftMs).toBeGreaterThan(3_600_000);
          expect((await other.inspect()).leftMs).toBeGreaterThan(3_600_000);
        }
        await pause(150);
        expect(await other.tryLock()).toBeNull();
        expect(await held!.release()).toBe(true);
      });

      test("a hold without a given lease is renewed until its release", async () => {
        const { lock, other } = fresh({ watchdogLease: RENEWED_MS });
        const held = await lock.tryLock();
        // Twice, so that a renewal is followed by another one.
        for (let renewals = 0; renewals < 2; renewals++) {
          let leastMs = RENEWED_MS;
          await until("the store has a longer lease", async () => {
            const { leftMs } = await other.inspect();
            leastMs = Math.min(leastMs, leftMs);
            return leftMs > leastMs + 500;
          });
        }
        expect(await other.tryLock()).toBeNull();
        expect(held!.signal.aborted).toBe(false);
        expect(held!.leftMs).toBeGreaterThan(0);
        expect(await held!.release()).toBe(true);
      });
    });
  });
}
