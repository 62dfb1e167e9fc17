import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import * as library from "redis-semaphore";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { deferred } from "../../src/base/async/deferred.ts";
import { Lock, memoryStore, OrielError, redisStore, Semaphore } from "../../src/entries/index.ts";
import { QuorumLock, QuorumSemaphore } from "../../src/entries/structures/semaphore.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

let stop: () => Promise<void>;
/** The clients of two processes. The servers are databases of one. */
let own: Redis[];
let others: Redis[];
beforeAll(async () => {
  const server = await startRedis();
  const open = () => [0, 1, 2].map((db) => new Redis(server.url, { db }));
  [own, others] = [open(), open()];
  stop = async () => {
    for (const each of [...own, ...others]) each.disconnect();
    await server.stop();
  };
});
afterAll(() => stop());
beforeEach(async () => {
  await own[0]!.flushall();
});

/** The keys of each server. */
const keys = () => Promise.all(own.map((each) => each.keys("*")));

describe("a lock of three servers", () => {
  test("has one holder at a time, without a fence; it is extended, released, and free for the next", async () => {
    const [one, other] = [new QuorumLock(own, "nightly"), new QuorumLock(others, "nightly")];
    const held = (await one.tryLock({ lease: "60s" }))!;
    expect([held.fence, held.leftMs > 50_000, held.signal.aborted]).toEqual([null, true, false]);
    expect(await other.tryLock()).toBeNull();
    expect(await keys()).toEqual([["mutex:nightly"], ["mutex:nightly"], ["mutex:nightly"]]);
    expect(await held.extend("90s")).toBe(true);
    expect(held.leftMs).toBeGreaterThan(80_000);
    expect(await own[1]!.pttl("mutex:nightly")).toBeGreaterThan(80_000);
    const waits = other.withLock(() => "done", { wait: "60s" });
    await pause(30);
    expect(await held.release()).toBe(true);
    expect(await waits).toBe("done");
    expect([await held.extend(), await held.release()]).toEqual([false, true]);
    expect(await keys()).toEqual([[], [], []]);
  });

  test("lets 40 callers of two processes in, one at a time, those of each process in order", async () => {
    const locks = [new QuorumLock(own, "nightly"), new QuorumLock(others, "nightly")];
    const served: number[][] = [[], []];
    let inside = 0;
    const work = async (process: number, i: number) => {
      expect(++inside).toBe(1);
      await pause(1);
      inside--;
      served[process]!.push(i);
    };
    const calls = Array.from({ length: 40 }, (_, i) =>
      locks[i % 2]!.withLock(() => work(i % 2, i), { wait: "5m", lease: "5m" }),
    );
    await Promise.all(calls);
    for (const order of served) expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(served.flat()).toHaveLength(40);
  });

  test("goes on without a server whose client was closed, and gives no warning, since its owner knows", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    const clients = own.map((client) => client.duplicate());
    const closed = clients[2]!;
    await closed.ping();
    const ended = new Promise((resolve) => closed.once("end", resolve));
    closed.disconnect();
    await ended;
    expect(await new QuorumLock(clients, "nightly").withLock(() => "done")).toBe("done");
    await new Promise((resolve) => setImmediate(resolve)); // Node emits a warning in the next turn
    process.off("warning", onWarning);
    expect(warnings.map(String)).toEqual([]);
    for (const client of clients) client.disconnect();
  });

  test("costs the commands of redis-semaphore: four at each server", async () => {
    const lock = new QuorumLock(own, "nightly");
    const pair = async () => (await lock.tryLock({ lease: "60s" }))!.release();
    await pair(); // loads the script
    await own[0]!.config("RESETSTAT");
    for (let i = 0; i < 10; i++) expect(await pair()).toBe(true);
    await pause(50); // what follows a release would be sent by then
    await Promise.all(own.map((each) => each.ping())); // a release waits for two servers, and the third answers in order
    const stats = await own[0]!.info("commandstats");
    const calls = (name: string) => Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, "m").exec(stats)?.[1] ?? 0);
    expect(["set", "evalsha", "get", "del", "eval"].map(calls)).toEqual([30, 30, 30, 30, 0]);
  });

  test("is redis-semaphore's: a RedlockMutex of that key excludes it; a Lock of that name does not", async () => {
    const lock = new QuorumLock(own, "nightly");
    const bare = new library.RedlockMutex(others, "nightly", { acquireTimeout: 50, lockTimeout: 60_000 });
    const held = (await lock.tryLock({ lease: "60s" }))!;
    expect(await bare.tryAcquire()).toBe(false);
    expect((await new Lock(redisStore(own[0]!, { registry: false }), "nightly").tryLock())?.leftMs).toBeGreaterThan(0);
    expect(await held.release()).toBe(true);
    expect(await bare.tryAcquire()).toBe(true);
    expect(await lock.tryLock()).toBeNull();
    await bare.release();
  });

  test("is lost when the majority no longer has it: the extension and the release say so, and the signal aborts", async () => {
    const held = (await new QuorumLock(own, "nightly").tryLock({ lease: "60s" }))!;
    for (const each of own.slice(0, 2)) await each.flushdb();
    expect(await held.extend()).toBe(false);
    expect(held.signal.reason).toMatchObject({ code: "LOST", structure: "QuorumLock" });
    expect(await held.release()).toBe(false);
    const stolen = (await new QuorumLock(own, "stolen").tryLock({ lease: "60s" }))!;
    for (const each of own) await each.set("mutex:stolen", "another holder");
    expect(await stolen.release()).toBe(false);
    expect(await own[0]!.get("mutex:stolen")).toBe("another holder");
  });

  test("is given back by a renewal to a server that forgot it", async () => {
    const held = (await new QuorumLock(own, "nightly", { watchdogLease: 6000 }).tryLock())!;
    await own[2]!.flushdb();
    await until("it is renewed there", async () => (await own[2]!.exists("mutex:nightly")) === 1);
    expect(held.signal.aborted).toBe(false);
    await held.release();
  });

  test("a refusal leaves nothing behind, and tryLock without a wait does not pass the callers that wait", async () => {
    for (const each of own.slice(0, 2)) await each.set("mutex:nightly", "another holder");
    const lock = new QuorumLock(own, "nightly");
    expect(await lock.tryLock()).toBeNull();
    await until("the third is free", async () => (await own[2]!.exists("mutex:nightly")) === 0);
    const abort = new AbortController();
    const waits = lock.tryLock({ wait: "5m", signal: abort.signal });
    for (const each of own.slice(0, 2)) await each.del("mutex:nightly");
    const now = lock.tryLock();
    expect(await now).toBeNull();
    expect(await (await waits)!.release()).toBe(true);
  });
});

describe("a semaphore of three servers", () => {
  test("has no more than limit permits in use, single or several", async () => {
    const [one, other] = [own, others].map((clients) => new QuorumSemaphore(clients, "exports", { limit: 3 }));
    const single = (await one!.tryAcquire(1))!;
    const two = (await other!.tryAcquire(2))!;
    expect([single.fence, two.fence]).toEqual([null, null]);
    expect(await one!.tryAcquire(1)).toBeNull();
    expect(await single.release()).toBe(true);
    expect(await other!.tryAcquire(2)).toBeNull();
    const again = (await one!.tryAcquire(1))!;
    expect(await Promise.all([two.release(), again.release()])).toEqual([true, true]);
    // redis-semaphore takes nothing back itself when it is refused.
    for (const each of own.slice(0, 2)) await each.zadd("semaphore:exports", Date.now(), "a", Date.now(), "b");
    expect(await one!.tryAcquire(2)).toBeNull();
    await until("it is taken back", async () => (await own[2]!.zcard("semaphore:exports")) === 0);
  });

  test("serves all callers of two processes, and never more than the limit", async () => {
    const semaphores = [own, others].map((clients) => new QuorumSemaphore(clients, "exports", { limit: 5 }));
    let [inUse, most] = [0, 0];
    const work = async (permits: number) => {
      inUse += permits;
      most = Math.max(most, inUse);
      await pause(1);
      inUse -= permits;
    };
    const calls = Array.from({ length: 30 }, (_, i) =>
      semaphores[i % 2]!.withPermits(1 + (i % 3), () => work(1 + (i % 3)), { wait: "5m" }),
    );
    await Promise.all(calls);
    expect(most).toBeLessThanOrEqual(5);
    expect(most).toBeGreaterThan(1);
    expect(await keys()).toEqual([[], [], []]);
  });

  test("counts with redis-semaphore's own, and not with a Semaphore of that name", async () => {
    const options = { acquireTimeout: 50, lockTimeout: 30_000 };
    const bare = new library.RedlockMultiSemaphore(others, "exports", 3, 2, options);
    expect(await bare.tryAcquire()).toBe(true);
    const semaphore = new QuorumSemaphore(own, "exports", { limit: 3 });
    expect(await semaphore.tryAcquire(2)).toBeNull();
    expect(
      (await new Semaphore(redisStore(own[0]!, { registry: false }), "exports", { limit: 3 }).tryAcquire())?.leftMs,
    ).toBeGreaterThan(0);
    await bare.release();
    expect(await (await semaphore.tryAcquire(3))!.release()).toBe(true);
  });

  test("has one lease for all permits: another one is refused before anything is sent", async () => {
    const semaphore = new QuorumSemaphore(own, "exports", { limit: 3, watchdogLease: "60s" });
    await expect(semaphore.acquire(1, { lease: "10s" } as object)).rejects.toThrow(
      'QuorumSemaphore "exports" acquire: lease is 10000; it must be the one of all permits, 60000 ms',
    );
    expect(await keys()).toEqual([[], [], []]);
    const permit = await semaphore.acquire(1);
    await expect(permit.extend("2m")).rejects.toMatchObject({ code: "ARGUMENT" });
    expect(await permit.extend()).toBe(true);
    expect(await permit.release()).toBe(true);
  });

  test("a wait ends with DEADLINE, an abort with its reason, and neither keeps a permit", async () => {
    const semaphore = new QuorumSemaphore(own, "exports", { limit: 3 });
    const all = await new QuorumSemaphore(others, "exports", { limit: 3 }).acquire(3);
    await expect(semaphore.acquire(1, { wait: 40 })).rejects.toMatchObject({ code: "DEADLINE", applied: "no" });
    const abort = new AbortController();
    const waits = [1, 2, 3].map((permits) => semaphore.acquire(permits, { wait: "5m", signal: abort.signal }));
    const ends = Promise.allSettled(waits);
    await pause(30);
    const reason = new RangeError("enough");
    abort.abort(reason);
    for (const end of await ends) expect(end).toEqual({ status: "rejected", reason });
    await all.release();
    expect(await (await semaphore.acquire(3, { wait: "5m" })).release()).toBe(true);
  });
});

test("a server that grants a hold after its release is released again", async () => {
  const [gate, granted] = [deferred(), deferred<unknown>()];
  let isFirst = true;
  const late = new Proxy(own[2]!, {
    get(client, property) {
      const member = Reflect.get(client, property);
      if (typeof member !== "function") return member;
      if (property !== "eval" || !isFirst) return member.bind(client);
      isFirst = false;
      return async (...args: unknown[]) => {
        await gate.promise;
        const answer = await member.apply(client, args);
        granted.resolve(answer);
        return answer;
      };
    },
  });
  await own[0]!.script("FLUSH"); // so that each server is sent the text of the script
  const permit = await new QuorumSemaphore([own[0]!, own[1]!, late], "exports", { limit: 3 }).acquire(1);
  expect(await permit.release()).toBe(true);
  gate.resolve();
  expect(await granted.promise).toBe(1);
  await until("nothing is held", async () => (await keys()).flat().length === 0);
});

test("an extension that is under way when the hold is released, or asked for twice, changes no other hold", async () => {
  const lock = new QuorumLock(own, "nightly");
  const held = (await lock.tryLock({ lease: "60s" }))!;
  const [extended, released] = await Promise.all([held.extend("90s"), held.release()]);
  expect(released).toBe(true);
  expect(typeof extended).toBe("boolean");
  expect(held.leftMs).toBe(0);
  await until("it is free", async () => (await keys()).flat().length === 0);
  const next = (await lock.tryLock({ lease: "60s" }))!;
  expect(await Promise.all([next.extend("90s"), next.extend("2m")])).toEqual([true, true]);
  expect(await next.release()).toBe(true);
});

test("wrong clients and names are refused", () => {
  const make =
    (clients: unknown, name: unknown = "nightly") =>
    () =>
      new QuorumLock(clients as Redis[], name as string);
  const text = "it must be an array of at least 2 clients of ioredis, each of another server";
  for (const clients of [undefined, [], own.slice(0, 1), own[0], [own[0], undefined], [memoryStore(), memoryStore()]])
    expect(make(clients)).toThrow(text);
  expect(make([own[0], own[0]])).toThrow("clients of different servers; one is there twice");
  for (const name of ["", 7, null, "\ud800", "x".repeat(10_241)]) expect(make(own, name)).toThrow(OrielError);
  expect(() => new QuorumSemaphore(own, "s", { limit: 3, replicas: 1 } as never)).toThrow(/replicas/);
});
