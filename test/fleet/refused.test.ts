import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FleetMetrics, memoryStore, OrielError, type Store } from "../../src/entries/index.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
let raw: Redis;
let store: Store;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
  store = redisStore(server.url, { deadline: 1500 });
});
beforeEach(() => raw.flushall());
afterAll(async () => {
  await store?.close();
  raw?.disconnect();
  await server?.stop();
});

/** What makes a healthy server refuse each step that writes, and what ends that. */
const REFUSALS: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
  [
    "NOPERM of the command",
    () => raw.call("ACL", "SETUSER", "default", "-evalsha", "-eval"),
    () => raw.call("ACL", "SETUSER", "default", "+@all"),
  ],
  [
    "NOPERM of the key",
    () => raw.call("ACL", "SETUSER", "default", "resetkeys", "~other"),
    () => raw.call("ACL", "SETUSER", "default", "allkeys"),
  ],
  ["OOM", () => raw.config("SET", "maxmemory", "1mb"), () => raw.config("SET", "maxmemory", "0")],
  ["READONLY", () => raw.replicaof("127.0.0.1", "1"), () => raw.replicaof("NO", "ONE")],
];

test.each(REFUSALS)(
  "%s: counts are kept, and count once when the server accepts them again",
  async (_why, refuse, end) => {
    const fleet = new FleetMetrics(store, "shop", { interval: "1h", flush: "1h", percentiles: true });
    const pay = fleet.metric("pay");
    let late = 0;
    fleet.on("late", ({ events }) => {
      late += events;
    });
    pay.recordSuccess(1);
    await fleet.flush();
    await refuse();
    try {
      for (let i = 2; i <= 5; i++) {
        pay.recordSuccess(i);
        const error = await fleet.flush().catch((reason) => reason);
        expect(error).toBeInstanceOf(OrielError);
        expect(error).toMatchObject({ structure: "FleetMetrics", structureName: "shop", operation: "flush" });
      }
    } finally {
      await end();
    }
    pay.recordSuccess(6);
    expect((await fleet.read("pay")).success()).toBe(6);
    expect(late).toBe(0);
    await fleet.close();
  },
);

test("counts refused until they left every window are reported as late", async () => {
  const clock = { nowMs: Date.UTC(2100, 0) };
  const memory = memoryStore({ clock: () => clock.nowMs });
  let isRefused = true;
  const refusing: Store = {
    ...memory,
    leaseClock: () => clock.nowMs,
    run: (operation, ...rest) =>
      isRefused && operation.name === "fleet/flush"
        ? Promise.reject(new OrielError("UNAVAILABLE", "NOPERM", { applied: "no" }))
        : memory.run(operation, ...rest),
  };
  const fleet = new FleetMetrics(refusing, "shop", { interval: 600, sampleCount: 6, flush: "1h" });
  let late = 0;
  fleet.on("late", ({ events }) => {
    late += events;
  });
  for (let i = 0; i < 100; i++) {
    fleet.metric("pay").recordFailure();
    await fleet.flush().catch(() => {});
    clock.nowMs += 50;
  }
  // In the midst of a bucket: what the server takes is in the window.
  clock.nowMs += 50;
  isRefused = false;
  const { length } = (await fleet.read("pay")).details();
  expect(length).toBeGreaterThan(3);
  expect(late + (await fleet.read("pay")).failure()).toBe(100);
});

describe("damaged data", () => {
  const KEY = "oriel:{shop}:fleet";
  const open = () => new FleetMetrics(store, "shop", { interval: "7d", sampleCount: 1, flush: "1h" });
  const placed = (operation: string) => ({
    code: "CORRUPT",
    structure: "FleetMetrics",
    structureName: "shop",
    operation,
  });

  test("a damaged bucket affects no other one: it is reported, and the next count replaces it", async () => {
    const fleet = open();
    const errors: OrielError[] = [];
    fleet.on("error", ({ error }) => errors.push(error));
    for (const name of ["pay", "send"]) fleet.metric(name).addSuccess(3);
    await fleet.flush();
    const field = (await raw.hkeys(KEY)).find((each) => each.startsWith("1|"))!;
    for (const bytes of ["", "x".repeat(63), "x".repeat(65)]) {
      await raw.hset(KEY, field, bytes);
      await expect(fleet.read("pay")).rejects.toMatchObject({
        ...placed("read"),
        message: expect.stringContaining(KEY),
      });
      expect((await fleet.read("send")).success()).toBe(3);
      expect([...(await fleet.readAll())].map(([name, view]) => [name, view.success()])).toEqual([
        ["", 0],
        ["pay", 0],
        ["send", 3],
      ]);
      expect(errors.splice(0)).toMatchObject([placed("readAll")]);
      fleet.metric("pay").addSuccess(2);
      await fleet.flush();
      expect(errors.splice(0)).toMatchObject([placed("flush")]);
      expect((await fleet.read("pay")).success()).toBe(2);
    }
  });

  test.each([
    ["text", () => raw.set(KEY, "x")],
    ["a list", () => raw.rpush(KEY, "x")],
    ["a hash of another kind", () => raw.hset(KEY, "@layout", "\u0000")],
    ["names that are none", () => raw.hset(KEY, "@names", "\u0081\u00ff")],
    ["names that are a number", () => raw.hset(KEY, "@names", "\u0005")],
    ["senders that are cut off", () => raw.hset(KEY, "@senders", "x".repeat(23))],
  ])("%s under the key: each call is CORRUPT, and counts are kept", async (_what, put) => {
    const fleet = open();
    await put();
    fleet.metric("pay").addSuccess();
    await expect(fleet.flush()).rejects.toMatchObject(placed("flush"));
    await expect(fleet.read("pay")).rejects.toMatchObject({ code: "CORRUPT", structureName: "shop" });
    await raw.del(KEY);
    expect((await fleet.read("pay")).success()).toBe(1);
    expect((await fleet.readAll()).size).toBe(2);
  });
});

test("a metric's name that no key can have is refused, and affects no other", async () => {
  const fleet = new FleetMetrics(store, "shop", { interval: "10s", percentiles: true, flush: "1h" });
  for (const name of [JSON.parse('"\\ud800"'), "a\udfffb", "", "x".repeat(513), null, undefined, {}]) {
    fleet.metric("pay").recordSuccess(5);
    expect(() => fleet.metric(name as string)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
  }
  for (const name of ["_other", "__proto__", "constructor", "a:b", "%", "{", "\u0000", "é\u{1f600}"]) {
    fleet.metric(name).recordSuccess(7);
    expect(await fleet.latencyPercentilesMs(name, [50])).toEqual([7]);
  }
  expect((await fleet.read("pay")).success()).toBe(7);
  expect((await fleet.readAll()).get("__proto__")!.success()).toBe(1);
  expect(await fleet.latencyPercentilesMs("pay", [50])).toEqual([5]);
  await fleet.close();
});

test("a latency is in the present window, even if the requests before were slow to reach the server", async () => {
  let [nowMs, delayMs] = [1e12, 40];
  const inner = memoryStore({ clock: () => nowMs });
  const run: Store["run"] = (...args) => {
    nowMs += delayMs;
    return inner.run(...args);
  };
  const fleet = new FleetMetrics(Object.create(inner, { run: { value: run } }) as Store, "shop", {
    interval: "10s",
    percentiles: true,
    flush: "1h",
  });
  fleet.metric("other").recordSuccess(5);
  await fleet.flush();
  delayMs = 0;
  fleet.metric("pay").recordSuccess(7);
  expect(await fleet.latencyPercentilesMs("pay", [50])).toEqual([7]);
  await fleet.close();
});

test("latencies that one series refuses are kept, and the others are sent", async () => {
  await raw.set("oriel:{shop:bad}:latency", "damaged");
  const fleet = new FleetMetrics(store, "shop", { percentiles: true, flush: "1h" });
  for (const name of ["bad", "pay"]) fleet.metric(name).recordSuccess(5);
  await expect(fleet.flush()).rejects.toMatchObject({ code: "CORRUPT", structure: "FleetMetrics" });
  const errors: OrielError[] = [];
  fleet.on("error", ({ error }) => errors.push(error));
  expect((await fleet.read("bad")).success()).toBe(1);
  expect(await fleet.latencyPercentilesMs("pay", [50])).toEqual([5]);
  expect(errors).toMatchObject([{ code: "CORRUPT" }, { code: "CORRUPT" }]);
  await expect(fleet.latencyPercentilesMs("bad", [50])).rejects.toMatchObject({ code: "CORRUPT" });
  await raw.del("oriel:{shop:bad}:latency");
  expect(await fleet.latencyPercentilesMs("bad", [50])).toEqual([5]);
  const other = new FleetMetrics(store, "shop", { percentiles: true, flush: "1h" });
  expect(await other.latencyPercentilesMs("pay", [50])).toEqual([5]);
  await other.close();
});

test.each([
  ["10s", 50],
  ["1m", 60],
  [61, 1],
  ["1h", 60],
  ["7d", 60],
] as const)("an interval of %s alone has %i buckets", async (interval, buckets) => {
  const fleet = new FleetMetrics(memoryStore(), "shop", { interval });
  expect((await fleet.read("pay")).sampleCount).toBe(buckets);
});
