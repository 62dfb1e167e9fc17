import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { root } from "../../house/sources.ts";
import { LOCK_KEY, LockStage } from "../stage.ts";

const folder = join(root, "bench", "node_modules", "redis-semaphore");
const isThere = existsSync(folder);
if (!isThere) console.warn("skipped: redis-semaphore is not installed (npm ci in bench/)");

const stage = new LockStage();

/** A bare Mutex of the real package on our lock's key. */
function mutex(options: { acquireTimeout: number; lockTimeout: number }) {
  const { Mutex } = createRequire(import.meta.url)(folder) as typeof import("redis-semaphore");
  return new Mutex(stage.raw, "oriel:{nightly}", options);
}

describe.skipIf(!isThere)("a bare redis-semaphore Mutex on store.keyOf(name)", () => {
  test("is excluded by our hold, and gets the lock afterwards", async () => {
    const held = await stage.lock().tryLock({ lease: "60s" });
    expect(await stage.raw.get(LOCK_KEY)).toMatch(/^oriel:/);
    const bare = mutex({ acquireTimeout: 60, lockTimeout: 60_000 });
    expect(await bare.tryAcquire()).toBe(false);
    await held!.release();
    expect(await bare.tryAcquire()).toBe(true);
    await bare.release();
  });

  test("excludes our waiter, which gets the lock soon after the release although no message is published", async () => {
    const bare = mutex({ acquireTimeout: 1000, lockTimeout: 60_000 });
    expect(await bare.tryAcquire()).toBe(true);
    const lock = stage.lock();
    expect(await lock.tryLock()).toBeNull();
    const waits = lock.tryLock({ wait: "20s" });
    await pause(250);
    await bare.release();
    const held = await waits;
    expect(held!.leftMs).toBeGreaterThan(0);
    expect(await held!.release()).toBe(true);
  });

  test("cannot release or refresh our hold, nor we its hold", async () => {
    const bare = mutex({ acquireTimeout: 1000, lockTimeout: 300 });
    expect(await bare.tryAcquire()).toBe(true);
    await stage.raw.del(LOCK_KEY);
    const held = await stage.lock().tryLock({ lease: "60s" });
    await bare.release();
    expect(await held!.extend()).toBe(true);
    await stage.raw.set(LOCK_KEY, "another's");
    expect(await held!.release()).toBe(false);
    expect(await stage.raw.get(LOCK_KEY)).toBe("another's");
  });
});
