import { expect, vi } from "vitest";
import { holdingTimers } from "../../harness/clock/held-timers.ts";
import type { Case } from "./lifetimes.ts";
import type { LibraryLock } from "./shim.ts";
import type { Scene } from "./subjects.ts";

/** As in the library's tests of its functions, which renew nothing by themselves. */
const ONCE = { acquireTimeout: 50, lockTimeout: 150, retryInterval: 10, refreshInterval: 0 };
const LONG_MS = 20_000;
const LONG = { ...ONCE, lockTimeout: LONG_MS };

const succeeds: Case = async (scene) => {
  expect(await scene.open(1, LONG).tryAcquire()).toBe(true);
  await scene.hasHolds(1);
};

/** A lock, and one that finds no hold free. */
async function full(scene: Scene, options: object): Promise<LibraryLock> {
  const holds = scene.subject.isLock ? 1 : 2;
  for (let i = 0; i < holds; i++) expect(await scene.open(holds, LONG).tryAcquire()).toBe(true);
  return scene.open(holds, { ...LONG, ...options });
}

const failsAfterTimeout: Case = async (scene) => {
  const another = await full(scene, {});
  const startMs = performance.now();
  expect(await another.tryAcquire()).toBe(false);
  expect(performance.now() - startMs).toBeGreaterThan(ONCE.acquireTimeout - 5);
};

const failsAfterAttempts: Case = async (scene) => {
  const another = await full(scene, { acquireAttemptsLimit: 1, acquireTimeout: LONG_MS });
  expect(await holdingTimers(LONG_MS / 2, () => another.tryAcquire())).toBe(false);
};

const fails: Case = async (scene) => {
  const another = await full(scene, { acquireAttemptsLimit: 1 });
  expect(await another.tryAcquire()).toBe(false);
};

const waitsForTheLease: Case = async (scene) => {
  const startMs = performance.now();
  for (let i = 0; i < 2; i++) expect(await scene.open(1, { ...ONCE, acquireTimeout: LONG_MS }).tryAcquire()).toBe(true);
  expect(performance.now() - startMs).toBeGreaterThan(ONCE.lockTimeout - 5);
};

/** Locks of two keys do not wait for each other. */
const waitsPerKey: Case = async (scene) => {
  const keys = [scene.key, `${scene.key}-other`] as const;
  const open = (key: string, options: object) =>
    scene.subject.open(scene.server.store, key, 1, { ...ONCE, ...options }).tryAcquire();
  expect(await open(keys[0], { lockTimeout: LONG_MS })).toBe(true);
  expect(await open(keys[1], { acquireTimeout: LONG_MS })).toBe(true);
  expect(await holdingTimers(LONG_MS / 2, () => open(keys[1], { acquireTimeout: LONG_MS }))).toBe(true);
  expect(await open(keys[0], {})).toBe(false);
};

const leaseOfKey: Case = async (scene) => {
  await scene.open(1, LONG).acquire();
  await scene.hasHolds(1);
  const leftMs = await scene.leftMs();
  expect(leftMs).toBeLessThanOrEqual(LONG_MS);
  expect(leftMs).toBeGreaterThan(LONG_MS / 2);
};

/** A hold that others have taken meanwhile. */
const isLostToOthers: Case = async (scene) => {
  const lock = scene.open(3, LONG);
  await lock.acquire();
  await scene.hasHolds(1);
  await scene.giveToOthers(scene.subject.isLock ? 1 : 3);
  expect(await lock.refresh()).toBe(false);
  expect(lock.isAcquired).toBe(false);
  await scene.hasHolds(scene.subject.isLock ? 1 : 3);
};

/** A hold that the server no longer has. */
const isGone: Case = async (scene) => {
  const lock = scene.open(3, LONG);
  await lock.acquire();
  await scene.hasHolds(1);
  await scene.deleteHolds();
  expect(await lock.refresh()).toBe(false);
  expect(lock.isAcquired).toBe(false);
  await scene.hasHolds(0);
};

const isRenewed: Case = async (scene) => {
  const lock = scene.open(3, { ...LONG, lockTimeout: LONG_MS / 2 });
  await lock.acquire();
  await scene.hasHolds(1);
  expect(await lock.refresh(LONG_MS)).toBe(true);
  expect(lock.isAcquired).toBe(true);
  expect(await scene.leftMs()).toBeGreaterThan(LONG_MS / 2);
};

const release: Case = async (scene) => {
  const lock = scene.open(1, LONG);
  await lock.acquire();
  await scene.hasHolds(1);
  await lock.release();
  await scene.hasHolds(0);
};

const releaseOfNothing: Case = async (scene) => {
  const lock = scene.open(1, LONG);
  await lock.release(); // it was never acquired
  await lock.acquire();
  await scene.deleteHolds();
  await lock.release();
  await scene.hasHolds(0);
};

/** The clock of the second process differs. Leases are counted by the server's clock, so that changes nothing. */
const shifted =
  (aheadMs: number): Case =>
  async (scene) => {
    const options = { ...ONCE, acquireTimeout: LONG_MS, lockTimeout: LONG_MS };
    expect(await scene.open(1, options).tryAcquire()).toBe(true);
    const nowMs = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: nowMs + aheadMs });
    try {
      expect(await scene.open(1, { ...options, acquireAttemptsLimit: 1 }).tryAcquire()).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  };

const SHIFT = "TIME SHIFT case";

export const functions: Readonly<Record<string, Case>> = {
  "should return true for success lock": succeeds,
  "should return true for success acquire": succeeds,
  "should return 1 for success acquire": succeeds,
  "should return 0 for failure acquire": fails,
  "should return false when timeout": failsAfterTimeout,
  "should return false after acquireAttemptsLimit": failsAfterAttempts,
  "should set TTL for key": leaseOfKey,
  "should wait for auto-release": waitsForTheLease,
  "should wait per key": waitsPerKey,
  "should return false if resource is already acquired by different instance": isLostToOthers,
  "should return false if resource is already acquired": isLostToOthers,
  "should return false if resource is already acquired, but some expired": async (scene) => {
    const lock = scene.open(3, LONG);
    await lock.acquire();
    await scene.giveToOthers(3, 1);
    const others = await scene.permits();
    expect(others).toHaveLength(3 * scene.subject.permits - 1);
    expect(await lock.refresh()).toBe(false);
    expect(await scene.permits()).toEqual(others);
  },
  "should return false if resource is not acquired": isGone,
  "should return true for success refresh": isRenewed,
  "should remove key after release": release,
  "should remove key after success release": release,
  "should do nothing if resource is not locked": releaseOfNothing,
  [`${SHIFT} > should handle time difference less than lockTimeout (nodeA has faster clocks)`]: shifted(-450),
  [`${SHIFT} > should handle time difference less than lockTimeout (nodeA has slower clocks)`]: shifted(450),
  [`${SHIFT} > cant handle time difference greater than lockTimeout (nodeA has slower clocks)`]: shifted(550),
};

/** These set the clock of the process, so they run alone. */
export const isAlone = (title: string) => title.startsWith(SHIFT);
