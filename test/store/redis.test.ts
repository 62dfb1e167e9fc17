import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { redisStore } from "../../src/store/redis/redis.ts";
import { input, RedisStage } from "./contract/redis-stage.ts";
import { append, breakOff, remove, tally } from "./ops/operations.ts";

const stage = new RedisStage();

describe("batches", () => {
  test("calls of one turn are sent in few script calls, each key with its own result or refusal", async () => {
    const store = stage.open();
    const runs = Array.from({ length: 1000 }, (_, i) =>
      store.run(append, store.keyOf(`k${i}`), { ...input("abc"), maxBytes: i % 10 === 3 ? 2 : 9 }),
    );
    const results = await Promise.allSettled(runs);
    expect(results.map(({ status }) => status === "fulfilled")).toEqual(runs.map((_, i) => i % 10 !== 3));
    expect(await stage.callsOf("evalsha")).toBe(4);
    expect(await stage.raw.dbsize()).toBe(900);
  });

  test("arguments of more than 1 MiB split a batch; a single one of 20 MiB is sent", async () => {
    const store = stage.open();
    const bytes = Buffer.alloc(400_000, 1);
    await Promise.all([1, 2, 3, 4, 5].map((i) => store.run(append, store.keyOf(`k${i}`), { ...input(""), bytes })));
    expect(await stage.callsOf("evalsha")).toBe(3);
    const big = Buffer.alloc(20 * 2 ** 20, 7);
    await store.run(append, store.keyOf("big"), { ...input(""), bytes: big });
    expect(big.equals(await store.run(remove, store.keyOf("big"), undefined))).toBe(true);
  });

  test("an abort by one caller does not affect the others of its batch", async () => {
    const store = stage.open();
    const reasons = [new Error("mine"), undefined];
    const controllers = [new AbortController(), new AbortController()];
    const runs = [0, 1, 2].map((i) =>
      store.run(append, store.keyOf(`k${i}`), input("x"), { signal: controllers[i]?.signal }),
    );
    controllers[0]!.abort(reasons[0]);
    const [first, second, third] = await Promise.allSettled(runs);
    expect(first).toEqual({ status: "rejected", reason: reasons[0] });
    expect([second!.status, third!.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(await stage.raw.exists(store.keyOf("k0"))).toBe(0);
    controllers[1]!.abort();
  });

  test("many calls may share a signal, which ends all of them without a warning", async () => {
    const store = stage.open();
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

  test("an abort during the call rejects only that call", async () => {
    const store = stage.open();
    await store.run(append, store.keyOf("warm"), input("x"));
    stage.server.pause();
    const controller = new AbortController();
    const aborted = store.run(append, store.keyOf("a"), input("x"), { signal: controller.signal });
    const other = store.run(append, store.keyOf("b"), input("x"));
    setImmediate(() => setImmediate(() => controller.abort()));
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    stage.server.resume();
    expect((await other).length).toBe(1);
  });
});

describe("scripts", () => {
  test("are loaded again after SCRIPT FLUSH", async () => {
    const store = stage.open();
    await store.run(append, store.keyOf("k"), input("x"));
    await stage.raw.script("FLUSH");
    const runs = [1, 2, 3].map(() => store.run(append, store.keyOf("k"), input("y")));
    expect((await Promise.all(runs)).map(({ length }) => length)).toEqual([2, 3, 4]);
  });

  test("of two operations in one turn take one call each", async () => {
    const store = stage.open();
    const key = store.keyOf("k");
    expect(await Promise.all([store.run(append, key, input("0001")), store.run(tally, key, "0002")])).toMatchObject([
      { length: 4 },
      2,
    ]);
  });

  test("read the server's clock, in whole ms, and expire by it", async () => {
    const store = stage.open();
    const key = store.keyOf("k");
    const beforeMs = Date.now();
    const { nowMs } = await store.run(append, key, { ...input("x"), lifetimeMs: 60_000 });
    expect(Number.isInteger(nowMs)).toBe(true);
    expect(nowMs).toBeGreaterThanOrEqual(beforeMs - 1);
    expect(nowMs).toBeLessThanOrEqual(Date.now() + 1);
    expect(await stage.raw.pexpiretime(key)).toBe(nowMs + 60_000);
  });

  test("on a key with another type are CORRUPT and change nothing", async () => {
    const store = stage.open();
    const key = store.keyOf("k");
    await stage.raw.lpush(key, "x");
    await expect(store.run(append, key, input("x"))).rejects.toMatchObject({
      code: "CORRUPT",
      applied: "no",
      cause: { message: expect.stringContaining("WRONGTYPE") },
    });
    expect(await stage.raw.llen(key)).toBe(1);
    await expect(store.run(breakOff, key, true)).rejects.toMatchObject({ code: "CORRUPT", applied: "unknown" });
  });
});

test("a passed-in client stays open, and its keyPrefix is unused", async () => {
  const client = new Redis(stage.server.url, { keyPrefix: "not:", lazyConnect: true });
  const store = redisStore(client as never);
  await store.run(append, store.keyOf("k"), input("x"));
  await store.close();
  expect(await stage.raw.keys("*")).toEqual(["oriel:{k}"]);
  expect(await client.ping()).toBe("PONG");
  client.disconnect();
});

test("an operation with wrong arguments does not affect others", async () => {
  const store = stage.open();
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
    () => redisStore(stage.server.url, { prefix: "a{b" }),
    () => redisStore(stage.server.url, { deadline: 0 }),
    () => redisStore(stage.server.url, { deadline: Number.NaN }),
    () => redisStore(stage.server.url, { maxPendingBytes: 0.5 }),
  ])
    expect(make).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
});
