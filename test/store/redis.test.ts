import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/store/contract.ts";
import { type RedisStoreOptions, redisStore } from "../../src/store/redis.ts";
import { freePort, type RedisServer, startRedis } from "../harness/redis-server.ts";
import { append, breakOff, remove, tally } from "./ops/operations.ts";

const input = (text: string) => ({ bytes: Buffer.from(text), mostBytes: 1e9, lifetimeMs: 0 });

let server: RedisServer;
let raw: Redis;
const stores: Store[] = [];
const open = (options: RedisStoreOptions = {}, url = server.url) => {
  const store = redisStore(url, options);
  stores.push(store);
  return store;
};
const callsOf = async (command: string) =>
  Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await raw.info("commandstats"))?.[1] ?? 0);
const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
};

beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
});
beforeEach(async () => {
  await raw.flushall();
  await raw.config("RESETSTAT");
});
afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())));
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

describe("batches", () => {
  test("calls of one turn travel in few script calls, each key with its own result or refusal", async () => {
    const store = open();
    const runs = Array.from({ length: 1000 }, (_, i) =>
      store.run(append, store.keyOf(`k${i}`), { ...input("abc"), mostBytes: i % 10 === 3 ? 2 : 9 }),
    );
    const results = await Promise.allSettled(runs);
    expect(results.map(({ status }) => status === "fulfilled")).toEqual(runs.map((_, i) => i % 10 !== 3));
    expect(await callsOf("evalsha")).toBe(4);
    expect(await raw.dbsize()).toBe(900);
  });

  test("arguments of more than 1 MiB split them; a single one of 20 MiB goes through", async () => {
    const store = open({ deadlineMs: 10_000 });
    const bytes = Buffer.alloc(400_000, 1);
    await Promise.all([1, 2, 3, 4, 5].map((i) => store.run(append, store.keyOf(`k${i}`), { ...input(""), bytes })));
    expect(await callsOf("evalsha")).toBe(3);
    const big = Buffer.alloc(20 * 2 ** 20, 7);
    await store.run(append, store.keyOf("big"), { ...input(""), bytes: big });
    expect(big.equals(await store.run(remove, store.keyOf("big"), undefined))).toBe(true);
  });

  test("one caller's abort leaves the others of its batch alone", async () => {
    const store = open();
    const reasons = [new Error("mine"), undefined];
    const controllers = [new AbortController(), new AbortController()];
    const runs = [0, 1, 2].map((i) =>
      store.run(append, store.keyOf(`k${i}`), input("x"), { signal: controllers[i]?.signal }),
    );
    controllers[0]!.abort(reasons[0]);
    const [first, second, third] = await Promise.allSettled(runs);
    expect(first).toEqual({ status: "rejected", reason: reasons[0] });
    expect([second!.status, third!.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(await raw.exists(store.keyOf("k0"))).toBe(0);
    controllers[1]!.abort();
  });

  test("many calls may share a signal: it ends all of them, without a warning", async () => {
    const store = open();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    const controller = new AbortController();
    const { signal } = controller;
    const done = await Promise.all([1, 2].map((i) => store.run(append, store.keyOf(`k${i}`), input("x"), { signal })));
    expect(done).toHaveLength(2);
    const runs = Array.from({ length: 50 }, () => store.run(append, store.keyOf("k"), input("x"), { signal }));
    controller.abort("all");
    for (const result of await Promise.allSettled(runs)) expect(result).toMatchObject({ reason: "all" });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  test("an abort while the call is under way rejects it alone", async () => {
    const store = open({ deadlineMs: 5000 });
    await store.run(append, store.keyOf("warm"), input("x"));
    server.pause();
    const controller = new AbortController();
    const aborted = store.run(append, store.keyOf("a"), input("x"), { signal: controller.signal });
    const other = store.run(append, store.keyOf("b"), input("x"));
    setImmediate(() => setImmediate(() => controller.abort()));
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    server.resume();
    expect((await other).length).toBe(1);
  });
});

describe("scripts", () => {
  test("are loaded again after SCRIPT FLUSH", async () => {
    const store = open();
    await store.run(append, store.keyOf("k"), input("x"));
    await raw.script("FLUSH");
    const runs = [1, 2, 3].map(() => store.run(append, store.keyOf("k"), input("y")));
    expect((await Promise.all(runs)).map(({ length }) => length)).toEqual([2, 3, 4]);
  });

  test("two operations of one turn have a call each", async () => {
    const store = open();
    const key = store.keyOf("k");
    expect(await Promise.all([store.run(append, key, input("0001")), store.run(tally, key, "0002")])).toMatchObject([
      { length: 4 },
      2,
    ]);
  });

  test("read the server's clock, in whole ms, and expire by it", async () => {
    const store = open();
    const key = store.keyOf("k");
    const beforeMs = Date.now();
    const { nowMs } = await store.run(append, key, { ...input("x"), lifetimeMs: 60_000 });
    expect(Number.isInteger(nowMs)).toBe(true);
    expect(nowMs).toBeGreaterThanOrEqual(beforeMs - 1);
    expect(nowMs).toBeLessThanOrEqual(Date.now() + 1);
    expect(await raw.pexpiretime(key)).toBe(nowMs + 60_000);
  });

  test("that meet another type of value are CORRUPT and change nothing", async () => {
    const store = open();
    const key = store.keyOf("k");
    await raw.lpush(key, "x");
    await expect(store.run(append, key, input("x"))).rejects.toMatchObject({
      code: "CORRUPT",
      applied: "no",
      cause: { message: expect.stringContaining("WRONGTYPE") },
    });
    expect(await raw.llen(key)).toBe(1);
    await expect(store.run(breakOff, key, true)).rejects.toMatchObject({ code: "CORRUPT", applied: "unknown" });
  });
});

describe("failing servers", () => {
  test("a killed connection comes back by itself", async () => {
    const store = open();
    await store.run(append, store.keyOf("k"), input("x"));
    await raw.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    expect((await store.run(append, store.keyOf("k"), input("y"))).length).toBe(2);
  });

  test("one that stands still: calls end at their deadline, later ones are served", async () => {
    const store = open({ deadlineMs: 150 });
    await store.run(append, store.keyOf("k"), input("x"));
    server.pause();
    const startMs = performance.now();
    const results = await Promise.allSettled([
      store.run(append, store.keyOf("k"), input("y")),
      store.run(tally, store.keyOf("t"), "0001"),
    ]);
    expect(performance.now() - startMs).toBeLessThan(600);
    server.resume();
    for (const result of results)
      expect(result).toMatchObject({ reason: { code: "DEADLINE", applied: "unknown", transient: true } });
    await until(() =>
      store.run(tally, store.keyOf("t"), "0001").then(
        () => true,
        () => false,
      ),
    );
    expect(await store.run(tally, store.keyOf("t"), "0002")).toBe(2);
  });

  test("one out of memory: what would grow is OVERLOADED, not applied", async () => {
    const store = open();
    await store.run(append, store.keyOf("k"), input("x"));
    await raw.config("SET", "maxmemory", "1");
    await expect(store.run(append, store.keyOf("k"), input("y"))).rejects.toMatchObject({
      code: "OVERLOADED",
      applied: "no",
      transient: true,
    });
    await raw.config("SET", "maxmemory", "0");
    expect((await store.run(append, store.keyOf("k"), input("z"))).length).toBe(2);
  });

  test("one that is read-only for a while is tried again", async () => {
    const store = open({ deadlineMs: 5000 });
    await store.run(append, store.keyOf("k"), input("x"));
    await raw.replicaof("127.0.0.1", "1");
    await raw.config("SET", "replica-serve-stale-data", "yes");
    const run = store.run(append, store.keyOf("k"), input("y"));
    await until(async () => (await callsOf("evalsha")) > 1 || /READONLY/.test(await raw.info("errorstats")));
    await raw.replicaof("NO", "ONE");
    expect((await run).length).toBe(2);
  });

  test("one that appears only later: UNAVAILABLE within the deadline with the cause, then served", async () => {
    const port = await freePort();
    const store = open({ deadlineMs: 200 }, `redis://127.0.0.1:${port}`);
    await expect(store.run(append, store.keyOf("k"), input("x"))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      applied: "no",
      transient: true,
      cause: { code: "ECONNREFUSED" },
    });
    const late = await startRedis({ tcp: port });
    try {
      await until(() =>
        store.run(tally, store.keyOf("t"), "0001").then(
          () => true,
          () => false,
        ),
      );
      expect((await store.run(append, store.keyOf("k"), input("x"))).length).toBe(1);
      await store.close();
    } finally {
      await late.stop();
    }
  });

  test("too many bytes that wait are refused", async () => {
    const store = open({ maxPendingBytes: 1000 });
    const bytes = Buffer.alloc(2000);
    const first = store.run(append, store.keyOf("k"), { ...input(""), bytes });
    await expect(store.run(append, store.keyOf("k"), input("x"))).rejects.toMatchObject({ code: "OVERLOADED" });
    await first;
    expect((await store.run(append, store.keyOf("k"), input("x"))).length).toBe(2001);
  });
});

test("a client that is handed in stays open, its keyPrefix unused", async () => {
  const client = new Redis(server.url, { keyPrefix: "not:", lazyConnect: true });
  const store = redisStore(client as never);
  await store.run(append, store.keyOf("k"), input("x"));
  await store.close();
  expect(await raw.keys("*")).toEqual(["oriel:{k}"]);
  expect(await client.ping()).toBe("PONG");
  client.disconnect();
});

test("an operation whose arguments are not what its script takes harms nobody else", async () => {
  const store = open();
  const wrong = { ...append, encode: () => ["x"] };
  const absent = { ...append, name: "absent", encode: () => [undefined, 1, 1] as never };
  const results = await Promise.allSettled([
    store.run(wrong, store.keyOf("a"), input("x")),
    store.run(absent, store.keyOf("b"), input("x")),
    store.run(append, store.keyOf("c"), input("x")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});

test("wrong options throw at once", () => {
  for (const make of [
    () => redisStore("http://x"),
    () => redisStore({} as never),
    () => redisStore(server.url, { prefix: "a{b" }),
    () => redisStore(server.url, { deadlineMs: 0 }),
    () => redisStore(server.url, { deadlineMs: Number.NaN }),
    () => redisStore(server.url, { maxPendingBytes: 0.5 }),
  ])
    expect(make).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
});
