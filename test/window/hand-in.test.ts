import { Redis } from "ioredis";
import { afterEach, expect, test } from "vitest";
import { OrielError, redisStore, Series } from "../../src/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { Failure } from "../../src/store/failures.ts";
import { type RedisServer, startRedis } from "../harness/redis-server.ts";
import { until } from "../harness/until.ts";
import { isWrite, storeWith } from "./changed-store.ts";

const LOCAL = { degraded: true, degradedBy: "local" };
const OPTIONS = { values: "float64", onStoreError: "local", retention: "1m" } as const;

let server: RedisServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const config = (...words: string[]) => ["CONFIG", "SET", ...words];

/** What makes a server refuse to write, each for a reason that passes; and what ends it. */
test.each([
  ["out of memory", config("maxmemory", "1mb"), config("maxmemory", "0")],
  ["no permission", ["ACL", "SETUSER", "default", "-evalsha", "-eval"], ["ACL", "SETUSER", "default", "+@all"]],
  ["too few replicas", config("min-replicas-to-write", "1"), config("min-replicas-to-write", "0")],
  ["read-only", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]],
])("what is kept because of %s is handed in when that has passed, once", async (_, begin, end) => {
  server = await startRedis();
  const admin = new Redis(server.url);
  const client = new Redis(server.url);
  const failures: Failure[] = [];
  const plain: Store = redisStore(client, { deadline: 300 });
  const store: Store = { ...plain, monotonic: plain.monotonic, report: (failure) => void failures.push(failure) };
  const series = new Series(store, "s", OPTIONS);
  const reader = new Series(plain, "s", { values: "float64", retention: "1m" });
  expect((await series.recordAndGet(1)).degraded).toBe(false);
  const admins = admin.duplicate();
  await admins.call(begin[0]!, ...begin.slice(1));
  for (const value of [2, 3, 4]) expect(await series.record(value)).toEqual(LOCAL);
  expect(await series.recordMany([5, 6])).toEqual(LOCAL);
  expect(await series.stats()).toMatchObject({ ...LOCAL, count: 6, sum: 21 });
  // Several times it is tried to hand them in, and refused.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await series.record(7)).toEqual(LOCAL);
  expect(await series.stats()).toMatchObject({ ...LOCAL, count: 7, sum: 28 });
  await admins.call(end[0]!, ...end.slice(1));
  await until("all is in the store", async () => (await reader.stats()).count >= 7);
  await until("it is back", async () => !(await series.stats()).degraded);
  expect([...(await reader.values())].sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await series.stats()).toMatchObject({ count: 7, sum: 28, degraded: false });
  expect(failures).toEqual([]);
  await store.close();
  for (const each of [admin, admins, client]) each.disconnect();
});

/** A store that is away until it is told how to answer what writes. */
function scene() {
  const failures: Failure[] = [];
  let trouble: OrielError | undefined;
  const { store, plain, clock } = storeWith(async (name, _key, run) => {
    if (trouble && isWrite(name)) throw trouble;
    return run();
  });
  const series = new Series({ ...store, report: (failure) => void failures.push(failure) }, "s", OPTIONS);
  const fail = (error?: OrielError) => {
    trouble = error;
  };
  return { series, plain, clock, failures, fail };
}

const away = new OrielError("UNAVAILABLE", "away", { transient: true });

test.each(["CLASH", "CORRUPT", "ARGUMENT"] as const)(
  "what is refused with %s is given up, told, and kept in this process's answers",
  async (code) => {
    const { series, clock, failures, fail } = scene();
    await series.record(1);
    await series.stats();
    fail(away);
    expect(await series.recordMany([2, 3])).toEqual(LOCAL);
    fail(new OrielError(code, "never"));
    await until("it is told", () => failures.length > 0);
    expect(failures).toMatchObject([{ count: 2, error: { code, structure: "Series", structureName: "s" } }]);
    fail(away);
    clock.nowMs += 1000;
    expect(await series.record(4)).toEqual(LOCAL);
    expect(await series.stats()).toMatchObject({ ...LOCAL, count: 4, sum: 10 });
    fail();
    await until("it is back", async () => !(await series.record(0)).degraded);
    // The window that lacks them says so.
    expect(await series.stats()).toMatchObject(LOCAL);
  },
);

test("what outlives the retention while it is kept is told, and so is what a closed series still keeps", async () => {
  const { series, clock, failures, fail } = scene();
  await series.record(1);
  fail(away);
  await series.recordMany([2, 3]);
  clock.nowMs += 61_000;
  expect(await series.record(4)).toEqual(LOCAL);
  await until("it is told", () => failures.length > 0);
  expect(failures).toMatchObject([{ count: 2, error: { code: "LATE" } }]);
  await series.close();
  expect(failures.slice(1)).toMatchObject([{ count: 1, error: { code: "UNAVAILABLE", structureName: "s" } }]);
});

test("a refusal of this process's own bound is no failure of the store", async () => {
  const { series, fail } = scene();
  await series.record(1);
  fail(new OrielError("OVERLOADED", "64 MiB wait for answers", { transient: true }));
  await expect(series.record(2)).rejects.toMatchObject({ code: "OVERLOADED", applied: "no" });
  fail();
  expect(await series.record(3)).toEqual({ degraded: false });
});
