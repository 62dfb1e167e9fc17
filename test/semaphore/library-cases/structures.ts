import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { Lock } from "../../../src/entries/index.ts";
import { MultiSemaphore, Semaphore } from "../../../src/entries/structures/semaphore.ts";
import type { Store } from "../../../src/store/contract.ts";
import { until } from "../../harness/until.ts";
import { type Case, SHORT } from "./lifetimes.ts";
import { library } from "./shim.ts";
import type { Scene } from "./subjects.ts";

const ARGUMENT = expect.objectContaining({ code: "ARGUMENT" });

/** Every wrong argument of the library's test is refused, though with other words. */
const wrongArguments: Case = async ({ subject, server: { store } }) => {
  const { isLock, permits } = subject;
  const open = (client: unknown, key: unknown) => () => subject.open(client as Store, key as string, 1, {});
  expect(open(null, "key")).toThrow(ARGUMENT);
  expect(open(store, "")).toThrow(ARGUMENT);
  expect(open(store, 1)).toThrow(ARGUMENT);
  if (isLock) return;
  for (const limit of [0, "10" as unknown as number])
    expect(() => library.semaphore(store, "key", limit)).toThrow(ARGUMENT);
  if (permits === 1) return;
  for (const wrong of [0, "2" as unknown as number])
    await expect(library.multiSemaphore(store, "key", 5, wrong).acquire()).rejects.toEqual(ARGUMENT);
};

/** A `Semaphore` and a `MultiSemaphore` of one name share their permits. */
const sharedPermits: Case = async (scene) => {
  const { store } = scene.server;
  const multi = () => library.multiSemaphore(store, scene.key, 3, 2, SHORT);
  const single = () => library.semaphore(store, scene.key, 3, SHORT);
  const [two, one] = [multi(), single()];
  await two.acquire();
  await one.acquire();
  await scene.hasHolds(1.5);
  await expect(multi().acquire()).rejects.toMatchObject({ code: "DEADLINE" });
  await expect(single().acquire()).rejects.toMatchObject({ code: "DEADLINE" });
  await two.release();
  await scene.hasHolds(0.5);
  await one.release();
  await scene.hasHolds(0);
};

/** A store whose renewals take some time. Counts those under way. */
function slowRenewals(store: Store, slowMs: number) {
  const seen = { all: 0, underWay: 0, most: 0 };
  const slow: Store = {
    ...store,
    monotonic: store.monotonic,
    leaseClock: store.leaseClock,
    keyOf: (name) => store.keyOf(name),
    close: () => store.close(),
    async run(operation, key, input) {
      if (!operation.name.endsWith("/renew")) return store.run(operation, key, input);
      seen.all++;
      seen.most = Math.max(seen.most, ++seen.underWay);
      await pause(slowMs);
      seen.underWay--;
      return store.run(operation, key, input);
    },
  };
  return { seen, slow };
}

const oneRenewalAtATime: Case = async ({ key, server }) => {
  const { seen, slow } = slowRenewals(server.store, 120);
  const lock = library.mutex(slow, key, SHORT);
  await lock.acquire();
  await until("three renewals", () => seen.all >= 3);
  expect(seen.most).toBe(1);
  expect(lock.isAcquired).toBe(true);
  await lock.release();
};

const releaseDuringRenewal: Case = async ({ key, server }) => {
  const { seen, slow } = slowRenewals(server.store, 150);
  const lost: unknown[] = [];
  const lock = library.mutex(slow, key, { ...SHORT, onLockLost: (error) => lost.push(error) });
  await lock.acquire();
  await until("a renewal is under way", () => seen.underWay > 0);
  await lock.release();
  await until("it has ended", () => seen.underWay === 0);
  await pause(50);
  expect(lost).toEqual([]);
};

const defaults: Case = async (scene: Scene) => {
  for (const lock of [library.mutex(scene.server.store, scene.key, {}), library.mutex(scene.server.store, scene.key)]) {
    await lock.acquire();
    expect(lock.isAcquired).toBe(true);
    await lock.release();
  }
};

export const structures: Readonly<Record<string, Case>> = {
  "should fail on invalid arguments": wrongArguments,
  "should set default options": defaults,
  "should not call _refresh if already refreshing": oneRenewalAtATime,
  "Compatibility with Semaphore > should work with Semaphore": sharedPermits,
  "refresh and release race condition > should not throw LostLock error when refresh started but not finished before release happened":
    releaseDuringRenewal,
  "should export public API": async () => {
    for (const structure of [Lock, Semaphore, MultiSemaphore]) expect(structure).toBeTypeOf("function");
  },
};
