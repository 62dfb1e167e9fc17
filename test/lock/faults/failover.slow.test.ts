import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Lock } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type ReplicatedRedis, startReplicated } from "../../harness/servers/replicas.ts";
import { until } from "../../harness/until.ts";
import { LOCK_KEY } from "../stage.ts";
import { FencedRow } from "./fenced-row.ts";

let redis: ReplicatedRedis;
let promoted: Redis;
let proxy: FaultProxy;
let stores: Store[];
beforeEach(async () => {
  redis = await startReplicated(1);
  promoted = new Redis(redis.replicas[0]!.url);
  proxy = await startProxy(redis.primary.port);
  stores = [0, 1].map(() => redisStore(proxy.url, { deadline: 3000 }));
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  promoted.disconnect();
  await proxy.close();
  await redis.stop();
});

/** Waits until the replica has the state of the lock. */
async function untilReplicated(): Promise<void> {
  const primary = new Redis(redis.primary.url);
  try {
    const state = await primary.getBuffer(LOCK_KEY);
    await until("the replica has it", async () => state!.equals((await promoted.getBuffer(LOCK_KEY))!));
  } finally {
    primary.disconnect();
  }
}

/** The primary is killed, the replica takes its place for all clients. */
async function failOver(): Promise<void> {
  await redis.primary.kill();
  await promoted.replicaof("NO", "ONE");
  proxy.moveTo(redis.replicas[0]!.port);
}

test("a hold that the replica has excludes others until its end, and the watchdog renews it on the new primary", async () => {
  const [lock, other] = stores.map((store) => new Lock(store, "nightly", { watchdogLease: 6000 }));
  const held = await lock!.tryLock();
  await untilReplicated();
  await failOver();
  let leastMs = 6000;
  await until("the new primary has a longer lease", async () => {
    const { isHeld, leftMs } = await other!.inspect();
    if (isHeld) leastMs = Math.min(leastMs, leftMs);
    return leftMs > leastMs + 500;
  });
  expect(await other!.tryLock()).toBeNull();
  expect(held!.signal.aborted).toBe(false);
  expect(await held!.release()).toBe(true);
  const next = await other!.tryLock({ wait: "10s" });
  expect(next!.fence).toBeGreaterThan(held!.fence);
});

test("a hold that the replica never had: the next fence is higher, and the first hold is refused and aborted", async () => {
  // The holder knows of its loss at the latest when this is over.
  const [lock, other] = stores.map((store) => new Lock(store, "nightly", { watchdogLease: 3000 }));
  const row = new FencedRow();
  const earlier = await lock!.tryLock();
  await earlier!.release();
  await untilReplicated();
  await promoted.replicaof("NO", "ONE");
  const held = await lock!.tryLock();
  expect(row.write(held!.fence)).toBe(true);
  await failOver();
  const next = await other!.tryLock({ wait: "10s" });
  expect(next!.fence).toBeGreaterThan(held!.fence);
  expect(row.write(next!.fence)).toBe(true);
  expect(row.write(held!.fence)).toBe(false);
  await until("the holder knows", () => held!.signal.aborted);
  expect(held!.signal.reason).toMatchObject({ code: "LOST" });
  expect(await held!.release()).toBe(false);
  expect(await next!.release()).toBe(true);
});
