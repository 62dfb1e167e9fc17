import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryStore, redisStore, type Store } from "../../src/entries/index.ts";
import { MultiSemaphore, QuorumLock, Semaphore } from "../../src/entries/structures/semaphore.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let servers: RedisServer[];
const opened: Store[] = [];
beforeAll(async () => {
  servers = await Promise.all([0, 1, 2].map(() => startRedis()));
});
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  await Promise.all(servers.map((each) => each.stop()));
});

/** The stores of one process. */
function connect(count = 3): Store[] {
  const stores = servers.slice(0, count).map(({ url }) => redisStore(url));
  opened.push(...stores);
  return stores;
}

/** A process whose servers are in memory. `aheadMs` sets their clocks forward, not the clock of the process. */
function inMemory(aheadMs: number[] = [0, 0, 0]): { stores: Store[]; clear(i: number): void } {
  const servers = aheadMs.map((_, i) => memoryStore({ clock: () => Date.now() + aheadMs[i]! }));
  const monotonic = () => performance.now();
  const stores = servers.map((server): Store => ({ ...server, monotonic, leaseClock: monotonic }));
  return { stores, clear: (i) => servers[i]!.clear() };
}

/** The moment of an abort: after some turns of the microtask queue, of the event loop, or ms. */
async function phase(i: number): Promise<void> {
  const steps = i % 20;
  if (i >= 40) return pause(steps / 8);
  for (let step = 0; step < steps; step++) await (i < 20 ? null : new Promise(setImmediate));
}

test("an abort at any moment rejects with its reason or comes too late, and leaves nothing held", async () => {
  const [own, others] = [connect(), connect()];
  const calls: ((signal: AbortSignal) => Promise<{ release(): Promise<boolean> } | null>)[] = [
    (signal) => new QuorumLock(own, "abort").tryLock({ wait: "5s", signal }),
    (signal) => new Semaphore(own[0]!, "abort", { limit: 3 }).acquire({ wait: "5s", signal }),
    (signal) => new MultiSemaphore(own, "aborts", { limit: 3 }).acquire(3, { wait: "5s", signal }),
  ];
  for (const call of calls) {
    const ends = { held: 0, enough: 0 };
    for (let i = 0; i < 60; i++) {
      const abort = new AbortController();
      const held = call(abort.signal).catch((reason: unknown) => reason);
      await phase(i);
      abort.abort("enough");
      const end = await held;
      if (end === "enough") ends.enough++;
      else {
        expect(await (end as { release(): Promise<boolean> }).release()).toBe(true);
        ends.held++;
      }
    }
    expect(ends.held + ends.enough).toBe(60);
    expect(ends.enough).toBeGreaterThan(0);
  }
  const wait = "5s"; // less than the leases
  expect(await new QuorumLock(others, "abort").tryLock({ wait })).not.toBeNull();
  expect((await new MultiSemaphore(others[0]!, "abort", { limit: 3 }).acquire(3, { wait })).leftMs).toBeGreaterThan(0);
  expect((await new MultiSemaphore(others, "aborts", { limit: 3 }).acquire(3, { wait })).leftMs).toBeGreaterThan(0);
});

test.each([1, 3])("processes with other limits and leases share the permits of %i servers", async (count) => {
  const LIMITS = [2, 3, 5];
  const leases = [300, 900, 5000];
  const name = `limits-${count}`;
  const semaphores = LIMITS.map((limit, i) => {
    const stores = connect(count);
    return new MultiSemaphore(count === 1 ? stores[0]! : stores, name, { limit, watchdogLease: leases[i]! });
  });
  let [inUse, most] = [0, 0];
  const work = async (permits: number) => {
    inUse += permits;
    most = Math.max(most, inUse);
    await pause(permits);
    inUse -= permits;
  };
  const callers = semaphores.flatMap((each, i) =>
    Array.from({ length: 10 }, (_, k) => {
      const permits = 1 + (k % LIMITS[i]!);
      const lease = k % 3 === 0 ? 2000 : undefined;
      return each.withPermits(permits, () => work(permits), { wait: "25s", lease });
    }),
  );
  await Promise.all(callers);
  expect(most).toBeLessThanOrEqual(5);
});

test("a server's clock that jumps ahead by hours loses no hold of three servers", async () => {
  const aheadMs = [0, 0, 0];
  const { stores } = inMemory(aheadMs);
  const lock = new QuorumLock(stores, "clock", { watchdogLease: 3000 });
  const semaphore = new Semaphore(stores, "clock", { limit: 2, watchdogLease: 3000 });
  const holds = [await lock.tryLock(), await semaphore.acquire(), await semaphore.acquire()];
  for (let i = 0; i < 3; i++) {
    aheadMs[i]! += 3_600_000;
    expect(await lock.tryLock()).toBeNull();
    expect(await semaphore.tryAcquire()).toBeNull();
    await pause(1100); // longer than a third of the lease, after which it is renewed
  }
  for (const each of holds) expect(await each!.release()).toBe(true);
});

test("servers that forget all, one after another, each after a renewal, never let too many in", async () => {
  const { stores, clear } = inMemory();
  const [holders, newcomers] = [0, 1].map(() => new Semaphore(stores, "empty", { limit: 2, watchdogLease: 3000 }));
  const held = [await holders!.acquire(), await holders!.acquire()];
  for (const i of [0, 1, 2]) {
    clear(i);
    for (let attempt = 0; attempt < 5; attempt++) expect(await newcomers!.tryAcquire()).toBeNull();
    await pause(1100);
  }
  expect(held.map(({ leftMs }) => leftMs > 0)).toEqual([true, true]);
  for (const each of held) expect(await each.release()).toBe(true);
});

test("callers that wait reject when their store is closed", async () => {
  const [first, closing] = [connect(1)[0]!, connect(1)[0]!];
  const held = await new Semaphore(first, "closed", { limit: 1 }).acquire();
  const semaphore = new Semaphore(closing, "closed", { limit: 1 });
  const waits = Promise.allSettled(Array.from({ length: 20 }, () => semaphore.acquire({ wait: "60s" })));
  await pause(50);
  await closing.close();
  for (const each of await waits) expect(each).toMatchObject({ status: "rejected", reason: { code: "UNAVAILABLE" } });
  expect(await held.release()).toBe(true);
});
