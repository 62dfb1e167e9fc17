import { Redis } from "ioredis";
import { type LockOptions, Mutex, RedlockMutex } from "redis-semaphore";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  Counters,
  type DrainOptions,
  DrainService,
  Lock,
  LockedWindow,
  type LockSide,
  ReadWriteLock,
  redisStore,
  Semaphore,
  type Store,
} from "../../src/entries/index.ts";
import { QuorumLock } from "../../src/entries/structures/semaphore.ts";
import { TableSink } from "../fuzz/table-sink.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
let client: Redis;
/** The clients of each process. Three databases stand for three servers. */
let databases: Redis[][];
let stores: Store[];
let reference = 0;
beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
  databases = [0, 1].map(() => [0, 1, 2].map((db) => new Redis(server.url, { db })));
  stores = [redisStore(client), redisStore(client)];
});
afterEach(() => client.flushall());
afterAll(async () => {
  for (const each of [client, ...(databases ?? []).flat()]) each?.disconnect();
  await server?.stop();
});

type AcceptedLock = NonNullable<DrainOptions["lock"]>;

/** A mutex that waits for its turn, however long another one works. */
const PATIENT: LockOptions = { acquireTimeout: 240_000, lockTimeout: 60_000 };
/** A mutex that asks once. */
const IMPATIENT: LockOptions = { acquireAttemptsLimit: 1, lockTimeout: 60_000 };

/** The lock of one process: the first or the second. */
const LOCKS: Record<string, (process: number, ofMutex?: LockOptions) => AcceptedLock> = {
  Lock: (process) => new Lock(stores[process]!, "shared"),
  QuorumLock: (process) => new QuorumLock(databases[process]!, "shared"),
  "the writers of a ReadWriteLock": (process) => new ReadWriteLock(stores[process]!, "shared").write,
  "a Mutex of redis-semaphore": (_, options = PATIENT) => new Mutex(client, "shared", options),
  "a RedlockMutex of redis-semaphore": (_, options = PATIENT) => new RedlockMutex([client], "shared", options),
};

describe.each(Object.entries(LOCKS))("%s", (_name, lockOf) => {
  test("guards a locked window: no event of two processes is lost", async () => {
    const windows = [0, 1].map(
      (process) => new LockedWindow(stores[process]!, "orders", { span: "1h", lock: lockOf(process) }),
    );
    const steps: Promise<unknown>[] = [];
    for (let i = 1; i <= 20; i++) {
      steps.push(windows[i % 2]!.addAndGetStats(i));
      if (i % 4 === 0) await steps.at(-1);
    }
    await Promise.all(steps);
    expect(await windows[0]!.stats()).toMatchObject({ count: 20, sum: 210 });
  });

  test("elects the process that drains, and another one after its end", async () => {
    const name = `flow ${++reference}`;
    const counters = new Counters(stores[0]!, name, { dimensions: ["site"] });
    const sink = new TableSink();
    await counters.add({ site: "a" }, 5);
    const [first, second] = [lockOf(0), lockOf(1, IMPATIENT)];
    const drains = [first, second].map((lock) => new DrainService({ counters, sink, every: "1h", lock }));
    await drains[0]!.start();
    await expect.poll(async () => (await counters.read()).length).toBe(0);
    await expect(drains[1]!.drainOnce()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await drains[0]!.stop();
    await counters.add({ site: "a" }, 2);
    expect(await drains[1]!.drainOnce()).toMatchObject({ events: 2n, failed: 0 });
    await counters.close();
  });
});

test("without fences, holders that lost their lease overwrite nothing: each event counts once, or its call rejects", async () => {
  const lost = { fence: null, signal: new AbortController().signal, release: async () => {} };
  const lock = { tryLock: async () => lost };
  const windows = stores.map((store) => new LockedWindow(store, "orders", { span: "1h", lock }));
  let written = 0;
  let refused = 0;
  for (let i = 0; i < 30; i++) {
    const steps = await Promise.allSettled(windows.map((window) => window.addAndGetStats(1)));
    for (const step of steps) {
      if (step.status === "fulfilled") written++;
      else {
        refused++;
        expect(step.reason).toMatchObject({ code: "STALE", applied: "no" });
      }
    }
  }
  expect(await windows[0]!.stats()).toMatchObject({ count: written, sum: written });
  expect(written).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

test("a lost mutex ends the drain of its process", async () => {
  const mutex = new Mutex(client, "shared", { lockTimeout: 60_000, refreshInterval: 20, onLockLost: () => {} });
  const counters = new Counters(stores[0]!, `flow ${++reference}`, { dimensions: ["site"] });
  const drain = new DrainService({ counters, sink: new TableSink(), every: 20, lock: mutex });
  const superseded: unknown[] = [];
  drain.on("superseded", (event) => void superseded.push(event));
  await drain.start();
  await expect.poll(() => mutex.isAcquired).toBe(true);
  await client.set("mutex:shared", "another holder");
  await expect.poll(() => superseded).toEqual([{ fence: null }]);
  await drain.stop();
  await counters.close();
});

test("wait and lease beside a mutex, which has its own, are refused", () => {
  for (const name of ["wait", "lease"])
    expect(
      () => new LockedWindow(stores[0]!, "w", { span: "1h", lock: new Mutex(client, "shared"), [name]: "1s" }),
    ).toThrow(`${name} is "1s"; leave it out, because a mutex of redis-semaphore has its own options`);
});

test("the side of readers is refused, because several hold it at once", () => {
  const { read, write } = new ReadWriteLock(stores[0]!, "sides");
  const counters = new Counters(stores[0]!, "sides", { dimensions: ["site"] });
  const uses = [
    (lock: LockSide) => new LockedWindow(stores[0]!, "w", { span: "1h", lock }),
    (lock: LockSide) => new DrainService({ counters, sink: new TableSink(), every: "1h", lock }),
  ];
  for (const use of uses) {
    expect(() => use(read)).toThrow(
      'lock is "the read side of a ReadWriteLock"; it must be a lock that one caller holds',
    );
    expect(use(write)).toBeDefined();
  }
});

test("anything else is refused", () => {
  const semaphore = new Semaphore(stores[0]!, "s", { limit: 1 });
  for (const lock of [semaphore, {}, "lock", null])
    expect(() => new LockedWindow(stores[0]!, "orders", { span: "1h", lock: lock as never })).toThrow(
      /LockedWindow "orders": lock is .+; it must be a Lock, QuorumLock, write side of a ReadWriteLock, or Mutex of redis-semaphore/,
    );
});
