import type { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Permit, QuorumLock, QuorumSemaphore } from "../../src/entries/structures/semaphore.ts";
import { defaults } from "../../src/store/delivery/script-store.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { quorumClients } from "../harness/servers/quorum-clients.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

/** Ends the calls of a majority that does not answer. */
const DEADLINE_MS = 2000;
const { deadlineMs } = defaults;

const started: RedisServer[] = [];
const connected: Redis[] = [];
let servers: RedisServer[];
/** The clients of one process, and of another one. */
let own: Redis[];
let others: Redis[];

beforeAll(() => {
  defaults.deadlineMs = DEADLINE_MS;
});
beforeEach(async () => {
  servers = await Promise.all([0, 1, 2].map(() => startRedis({ tcp: true })));
  started.push(...servers);
  const urls = servers.map(({ url }) => url);
  own = quorumClients(urls);
  others = quorumClients(urls);
  connected.push(...own, ...others);
  // Connections are open and scripts are loaded before the faults begin.
  await Promise.all([own, others].map((clients) => new QuorumLock(clients, "warm").withLock(() => 1, { wait: "60s" })));
  await Promise.all(
    [own, others].map((clients) => new QuorumSemaphore(clients, "warm", { limit: 2 }).withPermits(1, () => 1)),
  );
  // So are the last releases, which a majority does not wait for. Else a fault would fail them, with a warning.
  await Promise.all([...own, ...others].map((each) => each.ping()));
});
afterEach(async () => {
  for (const each of servers) if (each.isRunning()) each.resume();
  for (const each of connected.splice(0)) each.disconnect();
});
afterAll(async () => {
  defaults.deadlineMs = deadlineMs;
  await Promise.all(started.map((each) => each.stop()));
});

/** Runs a call that must not wait for the deadline of a server. */
const atOnce = <T>(call: () => Promise<T>) => holdingTimers(DEADLINE_MS / 2, call);

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
    expect(held!.leftMs).toBeGreaterThan(700_000);
    const waits = other.tryLock({ wait: "60s", lease: "10m" });
    expect(await atOnce(() => held!.release())).toBe(true);
    const next = await waits;
    expect(next!.signal.aborted).toBe(false);
    expect(await next!.release()).toBe(true);
  });

  test("permits are granted up to the limit, and never above it", async () => {
    const options = { limit: 3, watchdogLease: "10m" } as const;
    const semaphores = [own, others].map((clients) => new QuorumSemaphore(clients, "exports", options));
    await fail(servers[0]!);
    const held: Permit[] = [];
    for (const i of [0, 1, 0]) held.push((await atOnce(() => semaphores[i]!.tryAcquire(1)))!);
    expect(await atOnce(() => semaphores[0]!.tryAcquire(1))).toBeNull();
    expect(await atOnce(() => semaphores[1]!.tryAcquire(2))).toBeNull();
    expect(await atOnce(() => held[0]!.extend("10m"))).toBe(true);
    expect(await atOnce(() => held[0]!.release())).toBe(true);
    const next = await semaphores[1]!.acquire(1, { wait: "60s" });
    expect(await atOnce(() => semaphores[0]!.tryAcquire(1))).toBeNull();
    for (const each of [next, ...held.slice(1)]) expect(await atOnce(() => each.release())).toBe(true);
  });
});

test("holds survive the restart of one server without its data, and are renewed there", async () => {
  const options = { watchdogLease: 6000 };
  const [one, other] = [own, others].map((clients) => new QuorumLock(clients, "nightly", options));
  const [some, more] = [own, others].map((each) => new QuorumSemaphore(each, "exports", { ...options, limit: 2 }));
  const held = [(await one!.tryLock())!, (await some!.tryAcquire(2))!];
  const statesAt = async (client: Redis) =>
    `${await client.get("mutex:nightly")} ${await client.zrange("semaphore:exports", 0, "-1")}`;
  const states = await statesAt(own[0]!);
  expect(states).toMatch(/^\w{20} \w{20}_0,\w{20}_1$/);
  for (const i of [0, 1, 2]) {
    await restartedEmpty(i);
    // A renewal after every third of the lease gives it the holds again, as soon as the client has connected.
    await until("the holds are there", async () => (await statesAt(own[i]!)) === states);
    expect(await other!.tryLock()).toBeNull();
    expect(await more!.tryAcquire(1)).toBeNull();
    expect(held.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  }
  for (const each of held) expect(await each.release()).toBe(true);
});

test("without a majority: calls reject, an extension loses the hold, and all works again afterwards", async () => {
  const one = new QuorumLock(own, "nightly");
  const some = new QuorumSemaphore(own, "exports", { limit: 2, watchdogLease: "10m" });
  const extended = (await one.tryLock({ lease: "10m" }))!;
  const [permits, released] = [(await some.tryAcquire(1))!, (await some.tryAcquire(1))!];
  servers[0]!.pause();
  servers[2]!.pause();
  const unavailable = {
    code: "UNAVAILABLE",
    transient: true,
    message: expect.stringContaining("1 of 3 servers answered, and 2 must agree"),
  };
  // redis-semaphore releases a hold that no majority renews.
  for (const each of [extended, permits]) {
    expect(await each.extend()).toBe(false);
    expect(each.signal.aborted).toBe(true);
    expect(each.signal.reason).toMatchObject({ code: "LOST" });
  }
  await until("the server that answers has released them", async () => {
    const [lock, used] = [await own[1]!.exists("mutex:nightly"), await own[1]!.zcard("semaphore:exports")];
    return lock === 0 && used === 1;
  });
  await expect(released.release()).rejects.toMatchObject(unavailable);
  await expect(new QuorumLock(others, "elsewhere").tryLock()).rejects.toMatchObject(unavailable);
  await expect(new QuorumLock(others, "elsewhere").withLock(() => 1, { wait: 100 })).rejects.toMatchObject(unavailable);
  const elsewhere = new QuorumSemaphore(others, "elsewhere", { limit: 1 });
  await expect(elsewhere.tryAcquire(1)).rejects.toMatchObject(unavailable);
  servers[0]!.resume();
  servers[2]!.resume();
  const wait = "5m";
  for (const name of ["nightly", "elsewhere"])
    expect(await (await new QuorumLock(others, name).tryLock({ wait }))!.release()).toBe(true);
  // The failed release is in the order of what was sent to the servers.
  const all = await new QuorumSemaphore(others, "exports", { limit: 2, watchdogLease: "10m" }).acquire(2, { wait });
  expect(await all.release()).toBe(true);
  expect(await (await elsewhere.acquire(1, { wait })).release()).toBe(true);
});

test("a hold that was given up at a server that did not answer is released there, once it does", async () => {
  const lock = new QuorumLock(own, "nightly");
  servers[2]!.pause();
  const held = (await lock.tryLock({ lease: "10m" }))!;
  expect(await held.release()).toBe(true);
  servers[2]!.resume();
  // The server answers in order, so it has done what was sent before.
  expect(await own[2]!.get("mutex:nightly")).toBeNull();
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
    const ofPlace = () => warnings.filter((text) => text.includes(place));
    await until("the warning", () => ofPlace().length === 1);
    await lock.withLock(() => "done");
    await servers[2]!.kill();
    await expect(lock.tryLock()).rejects.toThrow(new RegExp(`1 of 3 servers answered.*${servers[2]!.port}`));
    expect(ofPlace()).toHaveLength(1);
    expect(warnings[0]).toMatch(/^one of several servers fails, and locks continue without it: /);
  } finally {
    process.off("warning", onWarning);
  }
});
