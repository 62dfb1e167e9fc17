import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ReadWriteLock } from "../../../src/entries/index.ts";
import { readWriteKeyOf } from "../../../src/holds/lock/lock-state.ts";
import { look } from "../../../src/holds/steps/steps.ts";
import { until } from "../../harness/until.ts";
import { Random } from "../../simulator/world/random.ts";
import type { OpenStore } from "../contract/stores.ts";

/** The promises of a lock of readers and writers over one store. */
export function readWriteSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(name, () => {
    let opened: OpenStore;
    let one: ReadWriteLock;
    /** The same lock, as another process has it. */
    let other: ReadWriteLock;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());
    beforeEach(async () => {
      await opened.clear();
      one = new ReadWriteLock(opened.store, "report", opened.modes);
      other = new ReadWriteLock(opened.other, "report", opened.modes);
    });

    const looked = () => opened.store.run(look, readWriteKeyOf(opened.store, "report"), undefined);
    const waiting = (callers: number) =>
      until(`${callers} callers wait`, async () => (await looked()).places.length === callers);

    test("readers hold it together, a writer alone; fences rise over both kinds", async () => {
      const readers = await Promise.all([one, other, one].map(({ read }) => read.tryLock({ lease: "60s" })));
      expect(await other.write.tryLock()).toBeNull();
      const fences = readers.map((held) => held!.fence);
      expect(new Set(fences).size).toBe(3);
      expect(readers.map((held) => held!.leftMs > 50_000)).toEqual([true, true, true]);
      expect(await Promise.all(readers.map((held) => held!.release()))).toEqual([true, true, true]);
      const writer = (await other.write.tryLock({ lease: "60s" }))!;
      expect(writer.fence).toBeGreaterThan(Math.max(...fences));
      expect(await one.read.tryLock()).toBeNull();
      expect(await one.write.tryLock()).toBeNull();
      expect(await writer.release()).toBe(true);
      const reader = (await one.read.tryLock())!;
      expect(reader.fence).toBeGreaterThan(writer.fence);
      expect(await reader.release()).toBe(true);
      expect(await reader.release()).toBe(true);
    });

    test("a writer waits until the readers have left; readers that ask later wait for it", async () => {
      const order: string[] = [];
      const reader = (await one.read.tryLock({ lease: "60s" }))!;
      const writes = other.write.withLock(() => void order.push("write"), { wait: "20s" });
      await waiting(1);
      const reads = [one, other].map(({ read }) => read.withLock(() => void order.push("read"), { wait: "20s" }));
      await waiting(3);
      expect(await one.read.tryLock()).toBeNull();
      expect(order).toEqual([]);
      expect(await reader.extend("60s")).toBe(true);
      await reader.release();
      await Promise.all([writes, ...reads]);
      expect(order).toEqual(["write", "read", "read"]);
    });

    test("waiting readers enter together when the writer leaves", async () => {
      const writer = (await one.write.tryLock({ lease: "60s" }))!;
      const waits = Array.from({ length: 10 }, (_, i) =>
        [one, other][i % 2]!.read.tryLock({ wait: "20s", lease: "60s" }),
      );
      await waiting(10);
      await writer.release();
      const held = await Promise.all(waits);
      expect(held.map((each) => each!.leftMs > 40_000)).toEqual(Array(10).fill(true));
      expect(await Promise.all(held.map((each) => each!.release()))).toEqual(Array(10).fill(true));
    });

    test("the lease of a dead reader ends, and lets the writer in", async () => {
      const dead = (await one.read.tryLock({ lease: 400, wait: "20s" }))!;
      const writer = (await other.write.tryLock({ wait: "20s", lease: "60s" }))!;
      expect(dead.leftMs).toBe(0);
      expect(await dead.extend()).toBe(false);
      expect(await dead.release()).toBe(false);
      expect(await writer.release()).toBe(true);
    });

    test("a writer that gives up lets readers in again", async () => {
      const reader = (await one.read.tryLock({ lease: "60s" }))!;
      expect(await other.write.tryLock({ wait: 80 })).toBeNull();
      const abort = new AbortController();
      const waits = other.write.tryLock({ wait: "20s", signal: abort.signal });
      await waiting(1);
      abort.abort(new RangeError("enough"));
      await expect(waits).rejects.toThrowError("enough");
      const next = (await one.read.tryLock({ wait: "20s" }))!;
      expect(await Promise.all([reader.release(), next.release()])).toEqual([true, true]);
    });

    test("holds without a lease are renewed", async () => {
      const watched = new ReadWriteLock(opened.store, "report", { ...opened.modes, watchdogLease: 6000 });
      const reader = (await watched.read.tryLock({ wait: "20s" }))!;
      // The renewal after a third of the lease makes the time that is left longer.
      let leastMs = 6000;
      await until("the store has a longer lease", async () => {
        const { holds, nowMs } = await looked();
        const leftMs = holds[0]!.endMs - nowMs;
        leastMs = Math.min(leastMs, leftMs);
        return leftMs > leastMs + 500;
      });
      expect(await other.write.tryLock()).toBeNull();
      expect(reader.leftMs).toBeGreaterThan(0);
      expect(await reader.release()).toBe(true);
    });

    test("never two writers, nor a reader beside a writer, in any order of calls", async () => {
      const seed = Number(process.env.ORIEL_SEED ?? Date.now() % 1_000_000);
      const random = new Random(seed);
      const inside = { readers: 0, writers: 0 };
      let lastWrite = 0;
      const run = async (lock: ReadWriteLock, isWriter: boolean, pauseMs: number) => {
        await pause(pauseMs);
        const held = (await (isWriter ? lock.write : lock.read).tryLock({ wait: "30s", lease: "60s" }))!;
        const kind = isWriter ? "writers" : "readers";
        inside[kind]++;
        expect(inside.writers + (inside.writers > 0 ? inside.readers : 0), `seed ${seed}`).toBeLessThanOrEqual(1);
        if (isWriter) {
          expect(held.fence, `seed ${seed}`).toBeGreaterThan(lastWrite);
          lastWrite = held.fence;
        }
        await pause(random.int(0, 3));
        inside[kind]--;
        expect(await held.release(), `seed ${seed}`).toBe(true);
      };
      const runs = Array.from({ length: 40 }, () =>
        run(random.pick([one, other]), random.chance(0.3), random.int(0, 60)),
      );
      await Promise.all(runs);
    });
  });
}
