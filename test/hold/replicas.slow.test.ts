import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Lock, memoryStore, ReadWriteLock, redisStore, Semaphore, type Store } from "../../src/entries/index.ts";
import { QuorumSemaphore } from "../../src/entries/structures/semaphore.ts";
import { type ReplicatedRedis, startReplicated, untilLinked } from "../harness/servers/replicas.ts";
import { until } from "../harness/until.ts";

let redis: ReplicatedRedis;
let replica: Redis;
let stores: Store[] = [];
beforeAll(async () => {
  redis = await startReplicated(1);
  replica = new Redis(redis.replicas[0]!.url);
});
afterAll(async () => {
  replica?.disconnect();
  await redis?.stop();
});
beforeEach(() => untilLinked(redis.replicas[0]!));
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  stores = [];
  await replica.replicaof("127.0.0.1", redis.primary.port);
});

function openStore(url = redis.primary.url, deadline = 20_000): Store {
  const store = redisStore(url, { deadline, registry: false });
  stores.push(store);
  return store;
}

/** Takes a hold of each kind that one store keeps, if it is free. */
const kinds: Record<string, (store: Store, replicas: number) => Promise<unknown>> = {
  Lock: (store, replicas) => new Lock(store, "l", { replicas }).tryLock({ lease: "1h" }),
  "the write side": (store, replicas) => new ReadWriteLock(store, "w", { replicas }).write.tryLock({ lease: "1h" }),
  Semaphore: (store, replicas) => new Semaphore(store, "s", { limit: 1, replicas }).tryAcquire({ lease: "1h" }),
};

test.each(Object.entries(kinds))("%s: a hold survives a failover to the replica", async (_kind, take) => {
  expect(await take(openStore(), 1)).not.toBeNull();
  await replica.replicaof("no", "one");
  expect(await take(openStore(redis.replicas[0]!.url), 0)).toBeNull();
});

test("without the replica nothing is granted, and a hold that may exist is given back", async () => {
  const store = openStore(redis.primary.url, 2000);
  await replica.replicaof("no", "one");
  const lock = new Lock(store, "alone", { replicas: 1 });
  await expect(lock.tryLock({ lease: "1h" })).rejects.toMatchObject({ transient: true, applied: "unknown" });
  await expect(lock.withLock(() => "ran", { wait: 100, lease: "1h" })).rejects.toMatchObject({ transient: true });
  await until("the hold is given back", async () => !(await new Lock(openStore(), "alone").isHeld()));
});

test.each(["another", "the same"])(
  "a caller of %s process that is next gets the hold when the replica has it",
  async (of) => {
    const store = openStore();
    const first = new Lock(store, of);
    const second = new Lock(of === "another" ? openStore() : store, of, { replicas: 1 });
    const held = (await first.tryLock({ lease: "1h" }))!;
    const waits = second.tryLock({ wait: "1h", lease: "1h" });
    await until("it waits", async () => (await first.inspect()).waitingProcesses === 1);
    await held.release();
    const next = (await waits)!;
    await replica.replicaof("no", "one");
    expect(await new Lock(openStore(redis.replicas[0]!.url), of).inspect()).toMatchObject({ fence: next.fence });
  },
);

test("a store without replicas refuses the option, and so do semaphores of several servers", async () => {
  await expect(new Lock(memoryStore(), "l", { replicas: 1 }).tryLock()).rejects.toMatchObject({ code: "ARGUMENT" });
  const options = { limit: 1, replicas: 1 };
  expect(() => new QuorumSemaphore([replica, new Redis({ lazyConnect: true })], "s", options)).toThrowError(/replicas/);
  expect(() => new Lock(memoryStore(), "l", { replicas: 1.5 })).toThrowError(/replicas/);
});
