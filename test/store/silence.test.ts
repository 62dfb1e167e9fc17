import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectIoredis, type RedisClass } from "../../src/store/redis/connect.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

/** A connection that owes answers is closed after two thirds of it in silence. */
const DEADLINE_MS = 3000;
const SILENCE_MS = 2000;
/** Longer than a connection that owes an answer may be silent. */
const LONGER_MS = 1.5 * SILENCE_MS;

let server: RedisServer;
let other: Redis;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  other = new Redis(server.url);
});
afterAll(async () => {
  other.disconnect();
  await server.stop();
});

describe.each([
  ["ioredis 6", Redis],
  ["ioredis 5", Redis5],
])("the own client of a store, %s", (_name, Class) => {
  async function connected() {
    const client = connectIoredis(Class as unknown as RedisClass, server.url, { deadlineMs: DEADLINE_MS });
    const redis = client as unknown as Redis;
    redis.on("error", () => {});
    let closings = 0;
    redis.on("close", () => closings++);
    await until("a connection", () => redis.status === "ready");
    return { redis, closings: () => closings };
  }

  test("closes a connection that owes an answer and is silent, and uses the next one", async () => {
    const { redis, closings } = await connected();
    await redis.set("k", "1");
    await other.client("PAUSE", 3 * SILENCE_MS, "ALL");
    const startMs = performance.now();
    await expect(redis.get("k")).rejects.toThrow();
    expect(performance.now() - startMs).toBeGreaterThan(SILENCE_MS - 20);
    await until("another connection", () => redis.status === "ready");
    expect(await redis.get("k")).toBe("1");
    expect(closings()).toBeGreaterThan(0);
    redis.disconnect();
  });

  test("does not close a connection that is idle, or is answered, also after one was closed that owed an answer", async () => {
    const { redis, closings } = await connected();
    await redis.set("k", "1");
    await new Promise((resolve) => setTimeout(resolve, LONGER_MS)); // it would have closed
    expect(closings()).toBe(0);
    const blocked = redis.blpop("empty", 60).catch((error: Error) => error);
    redis.stream.destroy();
    expect(await blocked).toBeInstanceOf(Error);
    await until("another connection", () => redis.status === "ready");
    const endMs = performance.now() + LONGER_MS;
    while (performance.now() < endMs) {
      expect(await redis.get("k")).toBe("1");
      await new Promise((resolve) => setTimeout(resolve, 10)); // only a pace
    }
    expect(closings()).toBe(1);
    redis.disconnect();
  });
});
