import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { holdingTimers } from "../../harness/clock/held-timers.ts";
import { until } from "../../harness/until.ts";
import type { LibraryLock } from "./shim.ts";
import type { Scene } from "./subjects.ts";

export type Case = (scene: Scene) => Promise<void>;

/** As in the library's tests. The lease is longer, for busy machines. */
export const SHORT = { lockTimeout: 3000, acquireTimeout: 100, refreshInterval: 80, retryInterval: 10 };
const UNRENEWED = { ...SHORT, refreshInterval: 0 };

const acquireAll = (locks: readonly LibraryLock[]) => Promise.all(locks.map((each) => each.acquire()));
const releaseAll = (locks: readonly LibraryLock[]) => Promise.all(locks.map((each) => each.release()));

const acquireAndRelease: Case = async (scene) => {
  const holds = scene.subject.isLock ? 1 : 2;
  const locks = Array.from({ length: holds }, () => scene.open(holds));
  for (const [i, lock] of locks.entries()) {
    expect(lock.isAcquired).toBe(false);
    await lock.acquire();
    expect(lock.isAcquired).toBe(true);
    await scene.hasHolds(i + 1);
  }
  for (const [i, lock] of locks.entries()) {
    await lock.release();
    expect(lock.isAcquired).toBe(false);
    await scene.hasHolds(holds - i - 1);
  }
};

const rejectAfterTimeout: Case = async (scene) => {
  const [first, second] = [scene.open(1, SHORT), scene.open(1, SHORT)];
  await first.acquire();
  const startMs = performance.now();
  await expect(second.acquire()).rejects.toMatchObject({ code: "DEADLINE" });
  expect(performance.now() - startMs).toBeGreaterThan(SHORT.acquireTimeout - 5);
  expect(second.isAcquired).toBe(false);
  await first.release();
  await scene.hasHolds(0);
};

const abort: Case = async (scene) => {
  const [first, second] = [scene.open(1, SHORT), scene.open(1, { ...SHORT, acquireTimeout: 20_000 })];
  await first.acquire();
  // It would wait for 20 s.
  const refused = () => expect(second.acquire(AbortSignal.timeout(10))).rejects.toMatchObject({ name: "TimeoutError" });
  await holdingTimers(5000, refused);
  await first.release();
  await scene.hasHolds(0);
};

const refreshUntilRelease: Case = async (scene) => {
  const holds = scene.subject.isLock ? 1 : 2;
  const locks = Array.from({ length: holds }, () => scene.open(holds, SHORT));
  await acquireAll(locks);
  await pause(SHORT.lockTimeout + 100);
  expect(locks.map(({ isAcquired }) => isAcquired)).not.toContain(false);
  await scene.hasHolds(holds);
  for (const [i, lock] of locks.entries()) {
    await lock.release();
    await scene.hasHolds(holds - i - 1);
  }
};

const stopRefreshing: Case = async (scene) => {
  const holds = scene.subject.isLock ? 1 : 2;
  const locks = Array.from({ length: holds }, () => scene.open(holds, SHORT));
  await acquireAll(locks);
  for (const [i, lock] of locks.entries()) {
    lock.stopRefresh();
    await pause(SHORT.lockTimeout + 100);
    expect(lock.isAcquired).toBe(false);
    await scene.hasHolds(holds - i - 1);
  }
};

const maximum: Case = async (scene) => {
  const HOLDS = 3;
  const open = () => scene.open(HOLDS, { acquireTimeout: 20_000, lockTimeout: 150, refreshInterval: 0 });
  const [first, second] = [0, 1].map(() => Array.from({ length: HOLDS }, open));
  let most = 0;
  const watch = async (lock: LibraryLock) => {
    await lock.acquire();
    most = Math.max(most, [...first!, ...second!].filter(({ isAcquired }) => isAcquired).length);
  };
  const one = first!.map(watch);
  await pause(5);
  const other = second!.map(watch);
  await Promise.all([...one, ...other]);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(HOLDS);
  await scene.hasHolds(0); // every lease ends by itself
};

const lostTo =
  (take: (scene: Scene) => Promise<void>): Case =>
  async (scene) => {
    const losses: unknown[] = [];
    const lock = scene.open(3, {
      ...SHORT,
      onLockLost(error) {
        expect(this.isAcquired).toBe(false);
        losses.push(error);
      },
    });
    await lock.acquire();
    expect(lock.isAcquired).toBe(true);
    await take(scene);
    await until("onLockLost is called", () => losses.length > 0);
    expect(lock.isAcquired).toBe(false);
    expect(losses).toMatchObject([{ code: "LOST" }]);
  };

const lostToAnother = lostTo((scene) => scene.giveToOthers(3));

const reusable =
  (holds: number): Case =>
  async (scene) => {
    const locks = Array.from({ length: holds }, () => scene.open(holds, SHORT));
    for (let cycle = 1; cycle <= 3; cycle++) {
      await acquireAll(locks);
      await pause(cycle === 1 ? SHORT.lockTimeout + 100 : 20); // longer than the lease, once
      await scene.hasHolds(holds);
      await releaseAll(locks);
      await scene.hasHolds(0);
      await pause(20);
      await scene.hasHolds(0);
    }
  };

const reusableWithoutRefresh: Case = async (scene) => {
  const options = { ...UNRENEWED, acquireTimeout: 10 };
  const [one, two, three] = [1, 2, 3].map(() => scene.open(2, options));
  for (const each of [one!, two!]) await until("it has it", () => each.tryAcquire());
  await pause(SHORT.lockTimeout);
  await releaseAll([one!, two!]); // their leases are over
  await until("the third is refused while both have it again", async () => {
    // A wait of 10 ms may end before the first answer of a busy server, and a lease may end meanwhile.
    for (const each of [one!, two!]) if (!each.isAcquired) await each.tryAcquire();
    const outcome = await three!.acquire().then(
      () => "acquired",
      ({ code }) => code,
    );
    const isFull = one!.isAcquired && two!.isAcquired;
    if (isFull) expect(outcome).toBe("DEADLINE");
    if (outcome === "acquired") await three!.release();
    return isFull;
  });
  await until("a lease is over", () => !one!.isAcquired);
  await until("the third has it", () => three!.tryAcquire());
};

/** oriel's store in memory takes the place of a mock. */
const inMemory: Case = async (scene) => {
  const holds = scene.subject.isLock ? 1 : 2;
  const locks = Array.from({ length: holds }, () => scene.open(holds));
  for (const lock of locks) {
    expect(lock.isAcquired).toBe(false);
    await lock.acquire();
    expect(lock.isAcquired).toBe(true);
  }
  const another = scene.open(holds, { acquireAttemptsLimit: 1 });
  expect(await another.tryAcquire()).toBe(false);
  for (const lock of locks) {
    await lock.release();
    expect(lock.isAcquired).toBe(false);
  }
  expect(await another.tryAcquire()).toBe(true);
  await another.release();
};

export const lifetimes: Readonly<Record<string, Case>> = {
  "should acquire and release lock": acquireAndRelease,
  "should acquire and release semaphore": acquireAndRelease,
  "should reject after timeout": rejectAfterTimeout,
  "should abort when the given signal is aborted": abort,
  "should return false for tryAcquire after timeout": async (scene) => {
    const [first, second] = [scene.open(1, SHORT), scene.open(1, SHORT)];
    await first.acquire();
    expect(await second.tryAcquire()).toBe(false);
    await first.release();
    await scene.hasHolds(0);
  },
  "should return true for successful tryAcquire": async (scene) => {
    const lock = scene.open(1, SHORT);
    expect(await lock.tryAcquire()).toBe(true);
    await lock.release();
    await scene.hasHolds(0);
  },
  "should refresh lock every refreshInterval ms until release": refreshUntilRelease,
  "should stop refreshing lock every refreshInterval ms if stopped": stopRefreshing,
  "should stop refreshing lock if stopped": stopRefreshing,
  "should acquire maximum LIMIT semaphores": maximum,
  "lost lock case > should call onLockLost callback if provided (another instance acquired)": lostToAnother,
  "lost lock case > should call onLockLost callback if provided (lock expired)": lostTo((scene) => scene.deleteHolds()),
  "lost lock case > should call onLockLost callback if provided": lostToAnother,
  "should be reusable": reusable(1),
  "reusable > autorefresh enabled": reusable(2),
  "reusable > autorefresh disabled": reusableWithoutRefresh,
  "ioredis-mock support > should acquire and release lock": inMemory,
  "ioredis-mock support > should acquire and release semaphore": inMemory,
};
