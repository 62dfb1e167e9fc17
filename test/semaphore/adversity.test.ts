import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import { RedlockMultiSemaphore } from "redis-semaphore";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { MultiSemaphore, redisStore, Semaphore, type Store } from "../../src/entries/index.ts";
import { QuorumLock, QuorumSemaphore } from "../../src/entries/structures/semaphore.ts";
import { semaphoreKeyOf } from "../../src/holds/semaphore/permit-calls.ts";
import { look } from "../../src/holds/steps/steps.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { quorumClients } from "../harness/servers/quorum-clients.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

let servers: RedisServer[];
let raw: Redis[];
const opened: Store[] = [];
const connected: Redis[] = [];
beforeAll(async () => {
  servers = await Promise.all([0, 1, 2].map(() => startRedis()));
  raw = clients();
});
beforeEach(async () => {
  await Promise.all(raw.map((each) => each.flushall()));
});
afterAll(async () => {
  for (const each of connected) each.disconnect();
  await Promise.all(opened.map((store) => store.close()));
  await Promise.all(servers.map((each) => each.stop()));
});

/** The store of one process, on the first server. */
function connect(): Store {
  const store = redisStore(servers[0]!.url);
  opened.push(store);
  return store;
}

/** The clients of one process, of all servers. */
function clients(): Redis[] {
  const own = quorumClients(servers.map(({ url }) => url));
  connected.push(...own);
  return own;
}

/** The moment of an abort: after some turns of the microtask queue, of the event loop, or ms. */
async function phase(i: number): Promise<void> {
  const steps = i % 20;
  if (i >= 40) return pause(steps / 8);
  for (let step = 0; step < steps; step++) await (i < 20 ? null : new Promise(setImmediate));
}

test("an abort at any moment rejects with its reason or comes too late, and leaves nothing held", async () => {
  const [own, others] = [connect(), connect()];
  const [ownClients, otherClients] = [clients(), clients()];
  const calls: ((signal: AbortSignal) => Promise<{ release(): Promise<boolean> } | null>)[] = [
    (signal) => new QuorumLock(ownClients, "abort").tryLock({ wait: "5s", signal }),
    (signal) => new Semaphore(own, "abort", { limit: 3 }).acquire({ wait: "5s", signal }),
    (signal) => new MultiSemaphore(own, "aborts", { limit: 3 }).acquire(3, { wait: "5s", signal }),
    (signal) => new QuorumSemaphore(ownClients, "abort", { limit: 3 }).acquire(3, { wait: "5s", signal }),
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
  expect(await new QuorumLock(otherClients, "abort").tryLock({ wait })).not.toBeNull();
  for (const permits of [
    await new MultiSemaphore(others, "abort", { limit: 3 }).acquire(3, { wait }),
    await new MultiSemaphore(others, "aborts", { limit: 3 }).acquire(3, { wait }),
    await new QuorumSemaphore(otherClients, "abort", { limit: 3 }).acquire(3, { wait }),
  ])
    expect(permits.leftMs).toBeGreaterThan(0);
});

test("processes with other limits and leases share the permits of a server", async () => {
  const LIMITS = [2, 3, 5];
  const leases = ["1m", "2m", "5m"] as const;
  const semaphores = LIMITS.map(
    (limit, i) => new MultiSemaphore(connect(), "limits", { limit, watchdogLease: leases[i]! }),
  );
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
      const lease = k % 3 === 0 ? "3m" : undefined;
      return each.withPermits(permits, () => work(permits), { wait: "5m", lease });
    }),
  );
  await Promise.all(callers);
  expect(most).toBeLessThanOrEqual(5);
});

test("servers that forget all, one after another, each after a renewal, never let too many in", async () => {
  const options = { limit: 2, watchdogLease: 6000 };
  const [holders, newcomers] = [clients(), clients()].map((each) => new QuorumSemaphore(each, "empty", options));
  const held = [await holders!.acquire(1), await holders!.acquire(1)];
  const permitsAt = async (client: Redis) => (await client.zrange("semaphore:empty", 0, "-1")).sort();
  // A majority is enough for the holds. The slowest server may grant them later.
  for (const client of raw) await until("a server has both holds", async () => (await permitsAt(client)).length === 2);
  const permits = await permitsAt(raw[0]!);
  for (const client of raw) {
    await client.flushall();
    for (let attempt = 0; attempt < 5; attempt++) expect(await newcomers!.tryAcquire(1)).toBeNull();
    await until("both holds are there again", async () => `${await permitsAt(client)}` === `${permits}`);
  }
  expect(held.map(({ leftMs }) => leftMs > 0)).toEqual([true, true]);
  for (const each of held) expect(await each.release()).toBe(true);
});

test("an attempt that the majority refuses leaves no permit at a server that has granted it late", async () => {
  for (const client of raw) {
    // Its scripts are loaded then.
    const alone = new RedlockMultiSemaphore([client], "alone", 1, 1);
    await alone.acquire();
    await alone.release();
  }
  const options = { limit: 2, watchdogLease: "10m" } as const;
  const [holder, newcomer] = [clients(), clients()].map((each) => new QuorumSemaphore(each, "late", options));
  const held = (await holder!.acquire(2))!;
  await until("all have it", async () =>
    (await Promise.all(raw.map((each) => each.zcard("semaphore:late")))).every(Boolean),
  );
  await raw[2]!.flushall();
  for (let attempt = 0; attempt < 20; attempt++) expect(await newcomer!.tryAcquire(2)).toBeNull();
  await until("nothing is left", async () => (await raw[2]!.zcard("semaphore:late")) === 0);
  expect(await held.release()).toBe(true);
});

test("callers that wait reject when their store is closed", async () => {
  const [first, closing] = [connect(), connect()];
  const held = await new Semaphore(first, "closed", { limit: 1 }).acquire();
  // The timers of a waiter that looks again, or whose wait ends, do not fire.
  await holdingTimers(5000, async () => {
    const semaphore = new Semaphore(closing, "closed", { limit: 1 });
    const waits = Promise.allSettled(Array.from({ length: 20 }, () => semaphore.acquire({ wait: "60s" })));
    const places = async () => (await first.run(look, semaphoreKeyOf(first, "closed"), undefined)).places.length;
    await until("all wait", async () => (await places()) === 20);
    await closing.close();
    for (const each of await waits) expect(each).toMatchObject({ status: "rejected", reason: { code: "UNAVAILABLE" } });
  });
  expect(await held.release()).toBe(true);
});
