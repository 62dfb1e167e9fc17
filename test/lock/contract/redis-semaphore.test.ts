import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../house/sources.ts";
import { LOCK_KEY, LockStage } from "../stage.ts";

const folder = join(root, "bench", "node_modules", "redis-semaphore");
const isThere = existsSync(folder);
if (!isThere) console.warn("skipped: redis-semaphore is not installed (npm ci in bench/)");

const stage = new LockStage();

/** A bare Mutex of the real package on the name of our lock. */
function mutex() {
  const { Mutex } = createRequire(import.meta.url)(folder) as typeof import("redis-semaphore");
  return new Mutex(stage.raw, "oriel:{nightly}", { acquireTimeout: 60, lockTimeout: 60_000 });
}

describe.skipIf(!isThere)("a bare redis-semaphore Mutex on store.keyOf(name) and our lock", () => {
  test("have keys of their own, so neither excludes the other", async () => {
    const [bare, lock] = [mutex(), stage.lock()];
    expect(await bare.tryAcquire()).toBe(true);
    const held = (await lock.tryLock({ lease: "60s" }))!;
    expect(held.leftMs).toBeGreaterThan(0);
    expect((await stage.raw.keys("*")).sort()).toEqual(["mutex:oriel:{nightly}", LOCK_KEY]);
    expect(await mutex().tryAcquire()).toBe(false);
    expect(await stage.lock().tryLock()).toBeNull();
    expect(await held.release()).toBe(true);
    await bare.release();
  });

  test("neither releases nor renews the hold of the other", async () => {
    const [bare, lock] = [mutex(), stage.lock()];
    expect(await bare.tryAcquire()).toBe(true);
    const held = (await lock.tryLock({ lease: "60s" }))!;
    await bare.release();
    expect(await lock.isHeld()).toBe(true);
    expect(await held.extend()).toBe(true);
    const next = mutex();
    expect(await next.tryAcquire()).toBe(true);
    expect(await held.release()).toBe(true);
    expect(next.isAcquired).toBe(true);
    expect(await mutex().tryAcquire()).toBe(false);
    await next.release();
  });
});
