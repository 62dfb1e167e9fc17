import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { Lock } from "../../../src/entries/index.ts";
import { until } from "../../harness/until.ts";
import type { OpenStore } from "./stores.ts";

/** The promises of several locks that are acquired together. */
export function setSuite(opened: () => OpenStore): void {
  describe("of several names", () => {
    const [a, b, c] = ["a", "b", "c"].map(
      (name) =>
        (store = opened().store) =>
          new Lock(store, name, opened().modes),
    );
    beforeEach(() => opened().clear());

    test("are held together, and acquired all or none", async () => {
      const set = Lock.all([c!(), a!()]);
      expect(set.names).toEqual(["c", "a"]);
      const held = (await set.tryLock({ lease: "60s" }))!;
      expect(held.fences).toEqual([(await c!().inspect()).fence, (await a!().inspect()).fence]);
      expect(held.leftMs).toBeGreaterThan(50_000);
      expect(await Lock.all([b!(), a!()]).tryLock()).toBeNull();
      const late = Lock.all([b!(), a!()]).withLock(() => {}, { wait: 1 });
      await expect(late).rejects.toMatchObject({
        code: "DEADLINE",
        message: expect.stringContaining(`the lock "${a!().name}" was not free within 1 ms`),
      });
      expect(await b!().isHeld()).toBe(false);
      expect(await held.release()).toBe(true);
      expect(await Promise.all([a!().isHeld(), c!().isHeld()])).toEqual([false, false]);
      expect(held.leftMs).toBe(0);
      expect(held.signal.aborted).toBe(false);
    });

    test("the first hold is renewed while the set waits for the next, and lasts for the whole lease then", async () => {
      const blocker = (await b!(opened().other).tryLock({ lease: "60s" }))!;
      const waits = Lock.all([a!(), b!()]).tryLock({ lease: 6000, wait: "20s" });
      let leastMs = 6000;
      await until("the first is renewed", async () => {
        const { isHeld, leftMs } = await a!().inspect();
        if (isHeld) leastMs = Math.min(leastMs, leftMs);
        return leftMs > leastMs + 500;
      });
      await blocker.release();
      const held = (await waits)!;
      expect(held.leftMs).toBeGreaterThan(1000);
      await until("the lease ends", () => held.leftMs === 0);
      expect(await held.release()).toBe(false);
    });

    test("are lost when one is lost", async () => {
      const held = (await Lock.all([a!(), b!()]).tryLock({ lease: "60s" }))!;
      const { signal } = held;
      await b!(opened().other).forceRelease();
      expect(await held.extend()).toBe(false);
      expect(signal.aborted).toBe(true);
      expect(signal.reason).toMatchObject({ code: "LOST", message: expect.stringContaining('"b"') });
      expect(await held.release()).toBe(false);
      expect(await a!().isHeld()).toBe(false);
      expect(() => held.assertHeld()).toThrowError(expect.objectContaining({ code: "LOST" }));
      const run = Lock.all([a!(), b!()]).withLock(() => b!(opened().other).forceRelease());
      await expect(run).rejects.toMatchObject({ code: "LOST", result: true });
    });

    test("sets in opposite orders do not wait for each other in a circle", async () => {
      let inside = 0;
      const run = (store: OpenStore["store"], order: readonly ((store?: OpenStore["store"]) => Lock)[]) =>
        Lock.all(order.map((make) => make(store))).withLock(
          async () => {
            expect(++inside).toBe(1);
            await pause(1);
            inside--;
            return "ran";
          },
          { wait: "30s" },
        );
      const runs = Array.from({ length: 6 }, () => [
        run(opened().store, [a!, b!, c!]),
        run(opened().other, [c!, b!, a!]),
      ]);
      expect(await Promise.all(runs.flat())).toEqual(Array(12).fill("ran"));
    });

    test("reject wrong sets", () => {
      expect(() => Lock.all([])).toThrowError(
        /^Lock.all: locks is an empty array; it must be an array of at least one lock/,
      );
      expect(() => Lock.all([a!(), a!()])).toThrowError(/"a" is there twice/);
      expect(() => Lock.all(["a"] as never)).toThrowError(/it must be an array of locks/);
      expect(() => Lock.all([a!()], { lease: 1 } as never)).toThrowError(/lease/);
    });
  });
}
