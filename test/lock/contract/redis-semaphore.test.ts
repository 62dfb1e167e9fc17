import { Redis } from "ioredis";
import { Mutex } from "redis-semaphore";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuorumLock } from "../../../src/entries/structures/semaphore.ts";
import { LOCK_KEY, LockStage } from "../stage.ts";

const stage = new LockStage();

/** A bare Mutex of redis-semaphore. */
const mutex = (key: string, client = stage.raw) => new Mutex(client, key, { acquireTimeout: 60, lockTimeout: 60_000 });

describe("a bare redis-semaphore Mutex on store.keyOf(name) and our lock", () => {
  const bareOf = () => mutex("oriel:{nightly}");

  test("have keys of their own, so neither excludes the other", async () => {
    const [bare, lock] = [bareOf(), stage.lock()];
    expect(await bare.tryAcquire()).toBe(true);
    const held = (await lock.tryLock({ lease: "60s" }))!;
    expect(held.leftMs).toBeGreaterThan(0);
    expect((await stage.raw.keys("*")).sort()).toEqual(["mutex:oriel:{nightly}", LOCK_KEY]);
    expect(await bareOf().tryAcquire()).toBe(false);
    expect(await stage.lock().tryLock()).toBeNull();
    expect(await held.release()).toBe(true);
    await bare.release();
  });

  test("neither releases nor renews the hold of the other", async () => {
    const [bare, lock] = [bareOf(), stage.lock()];
    expect(await bare.tryAcquire()).toBe(true);
    const held = (await lock.tryLock({ lease: "60s" }))!;
    await bare.release();
    expect(await lock.isHeld()).toBe(true);
    expect(await held.extend()).toBe(true);
    const next = bareOf();
    expect(await next.tryAcquire()).toBe(true);
    expect(await held.release()).toBe(true);
    expect(next.isAcquired).toBe(true);
    expect(await bareOf().tryAcquire()).toBe(false);
    await next.release();
  });
});

describe("bare redis-semaphore Mutexes on the servers of a QuorumLock", () => {
  /** Two databases stand for two servers, so both must agree. */
  let clients: Redis[];
  beforeAll(() => {
    clients = [0, 1].map((db) => new Redis(stage.server.url, { db }));
  });
  afterAll(() => {
    for (const each of clients ?? []) each.disconnect();
  });

  test("each excludes the other", async () => {
    const lock = new QuorumLock(clients, "nightly");
    const held = (await lock.tryLock({ lease: "60s" }))!;
    for (const client of clients) expect(await mutex("nightly", client).tryAcquire()).toBe(false);
    expect(await held.release()).toBe(true);
    for (const client of clients) {
      const bare = mutex("nightly", client);
      expect(await bare.tryAcquire()).toBe(true);
      expect(await lock.tryLock()).toBeNull();
      await bare.release();
    }
    expect(await (await lock.tryLock({ lease: "60s" }))!.release()).toBe(true);
  });

  test("a Lock of the same name excludes neither", async () => {
    const lock = stage.lock();
    const held = (await lock.tryLock({ lease: "60s" }))!;
    const both = (await new QuorumLock(clients, "nightly").tryLock({ lease: "60s" }))!;
    expect([await held.release(), await both.release()]).toEqual([true, true]);
  });
});
