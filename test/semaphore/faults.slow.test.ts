import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { redisStore, type Store } from "../../src/entries/index.ts";
import { MultiSemaphore, QuorumLock, Semaphore } from "../../src/entries/structures/semaphore.ts";
import { lockKeyOf, readState } from "../../src/lock/lock-state.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

const DEADLINE_MS = 2000;

const started: RedisServer[] = [];
const opened: Store[] = [];
let servers: RedisServer[];
/** The stores of one process, and of another one. */
let own: Store[];
let others: Store[];

beforeEach(async () => {
  servers = await Promise.all([0, 1, 2].map(() => startRedis({ tcp: true })));
  started.push(...servers);
  const open = () => servers.map(({ url }) => redisStore(url, { deadline: DEADLINE_MS }));
  own = open();
  others = open();
  opened.push(...own, ...others);
  // Connections are open before the faults begin.
  await Promise.all([own, others].map((stores) => new QuorumLock(stores, "warm").withLock(() => 1)));
  // So are the last releases, which a majority does not wait for. Else a fault would fail them, with a warning.
  await Promise.all([...own, ...others].map(tokenAt));
});
afterEach(async () => {
  for (const each of servers) if (each.isRunning()) each.resume();
});
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  await Promise.all(started.map((each) => each.stop()));
});

/** Runs a call that must not wait for the deadline of a server. */
const atOnce = <T>(call: () => Promise<T>) => holdingTimers(DEADLINE_MS / 2, call);

/** The holder's token on one server; "" if the lock is free there, or the server does not answer. */
async function tokenAt(store: Store): Promise<string> {
  const state = await readState(store, lockKeyOf(store, "nightly")).catch(() => undefined);
  return state?.token ?? "";
}

/** A server of the same port that remembers nothing. */
async function restartedEmpty(i: number): Promise<void> {
  const { port } = servers[i]!;
  await servers[i]!.kill();
  servers[i] = await startRedis({ tcp: port });
  started.push(servers[i]!);
}

describe.each([
  ["dead", (server: RedisServer) => server.kill()],
  ["stopped, so that its connections stay open", async (server: RedisServer) => server.pause()],
])("with one of three servers %s", (_name, fail) => {
  test("a lock is acquired, extended, released and passed on without waiting for it", async () => {
    const [one, other] = [new QuorumLock(own, "nightly"), new QuorumLock(others, "nightly")];
    await fail(servers[1]!);
    const held = await atOnce(() => one.tryLock({ lease: "10m" }));
    expect(held!.leftMs).toBeGreaterThan(200_000);
    expect(await atOnce(() => other.tryLock())).toBeNull();
    expect(await atOnce(() => held!.extend("20m"))).toBe(true);
    const waits = other.tryLock({ wait: "20s" });
    expect(await atOnce(() => held!.release())).toBe(true);
    const next = await waits;
    expect(next!.signal.aborted).toBe(false);
    expect(await next!.release()).toBe(true);
  });

  test("permits are granted up to the limit, and never above it", async () => {
    const semaphores = [new Semaphore(own, "exports", { limit: 3 }), new Semaphore(others, "exports", { limit: 3 })];
    await fail(servers[0]!);
    const wait = "10s";
    const held = await Promise.all([0, 1, 0].map((i) => semaphores[i]!.acquire({ lease: "30s", wait })));
    expect(await semaphores[0]!.tryAcquire()).toBeNull();
    expect(await new MultiSemaphore(others, "exports", { limit: 3 }).tryAcquire(1)).toBeNull();
    expect(await held[0]!.release()).toBe(true);
    const next = await semaphores[1]!.acquire({ lease: "30s", wait });
    expect(await semaphores[0]!.tryAcquire()).toBeNull();
    for (const each of [next, ...held.slice(1)]) expect(await each.release()).toBe(true);
  });
});

test("a hold survives the restart of one server without its data, and is renewed there", async () => {
  const one = new QuorumLock(own, "nightly", { watchdogLease: 600 });
  const other = new QuorumLock(others, "nightly", { watchdogLease: 600 });
  const held = (await one.tryLock())!;
  for (const i of [0, 1, 2]) {
    await restartedEmpty(i);
    // A renewal after every third of the lease gives it the hold again, as soon as the store has connected.
    await expect.poll(() => tokenAt(own[i]!)).toMatch(/^[0-9a-z]{20}$/);
    expect(await other.tryLock()).toBeNull();
    expect(held.signal.aborted).toBe(false);
  }
  expect(await held.release()).toBe(true);
});

test("without a majority: calls reject, a hold lasts for its lease and is then lost, and all works again afterwards", async () => {
  const one = new QuorumLock(own, "nightly");
  const held = (await one.tryLock({ lease: 3 * DEADLINE_MS }))!;
  const { signal } = held;
  servers[0]!.pause();
  servers[2]!.pause();
  await expect(held.extend("8s")).rejects.toMatchObject({
    code: "DEADLINE",
    transient: true,
    message: expect.stringContaining("1 of 3 servers answered, and 2 must agree"),
  });
  expect(held.leftMs).toBeGreaterThan(0);
  await expect(new QuorumLock(others, "elsewhere").tryLock()).rejects.toMatchObject({ transient: true });
  await expect.poll(() => signal.aborted).toBe(true);
  expect(signal.reason).toMatchObject({ code: "LOST" });
  servers[0]!.resume();
  servers[2]!.resume();
  const next = await new QuorumLock(others, "nightly").tryLock({ wait: "5m" });
  expect(next).not.toBeNull();
  expect(await next!.release()).toBe(true);
  const freed = await new QuorumLock(own, "elsewhere").tryLock({ wait: "5m" });
  expect(await freed!.release()).toBe(true);
});

test("a hold that was given up at a server that did not answer is released there, once it does", async () => {
  const lock = new QuorumLock(own, "nightly");
  servers[2]!.pause();
  const held = (await lock.tryLock({ lease: "60s" }))!;
  expect(await held.release()).toBe(true);
  servers[2]!.resume();
  await pause(50);
  await expect.poll(() => tokenAt(others[2]!)).toBe("");
});

test("a server that fails beside a majority is named in a warning, and in the error without a majority", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name, message }: Error) => void (name === "OrielWarning" && warnings.push(message));
  process.on("warning", onWarning);
  try {
    const lock = new QuorumLock(own, "nightly");
    await servers[1]!.kill();
    expect(await lock.withLock(() => "done")).toBe("done");
    const place = `redis at 127.0.0.1:${servers[1]!.port}`;
    await expect.poll(() => warnings.filter((text) => text.includes(place))).toHaveLength(1);
    await lock.withLock(() => "done");
    await servers[2]!.kill();
    await expect(lock.tryLock()).rejects.toThrow(new RegExp(`1 of 3 servers answered.*${servers[2]!.port}`));
    expect(warnings.filter((text) => text.includes(place))).toHaveLength(1);
    expect(warnings[0]).toMatch(/^one of several servers fails, and locks continue without it: /);
  } finally {
    process.off("warning", onWarning);
  }
});
