import { once } from "node:events";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { connectIoredis, type RedisClass } from "../../src/store/redis/lazy-ioredis.ts";
import { atEnd } from "../harness/ends.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

/** A connection that owes answers is closed after two thirds of it in silence. */
const DEADLINE_MS = 3000;
const SILENCE_MS = 2000;

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
/** Time passes for the client in steps only, so the server may be slow. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Time passes. A connection that is destroyed for it has closed. */
async function idle(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}

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
    await once(redis, "ready");
    atEnd(() => redis.disconnect());
    return { redis, closings: () => closings };
  }

  test("closes a connection that owes an answer and is silent, and uses the next one", async () => {
    const { redis, closings } = await connected();
    await redis.set("k", "1");
    server.pause();
    const asked = redis.get("k").catch((error: Error) => error);
    await idle(SILENCE_MS - 1);
    expect(closings()).toBe(0);
    await idle(1);
    expect(await asked).toBeInstanceOf(Error);
    server.resume();
    const ready = once(redis, "ready");
    await idle(1000); // it connects again after a pause
    await ready;
    expect(await redis.get("k")).toBe("1");
    expect(closings()).toBe(1);
  });

  test("does not close a connection that is idle, or is answered, also after one was closed that owed an answer", async () => {
    const { redis, closings } = await connected();
    await redis.set("k", "1");
    await idle(10 * SILENCE_MS);
    expect(closings()).toBe(0);
    const blocked = redis.blpop("empty", 60).catch((error: Error) => error);
    redis.stream.destroy();
    expect(await blocked).toBeInstanceOf(Error);
    const ready = once(redis, "ready");
    await idle(1000);
    await ready;
    // An answer begins the silence anew, also while others are owed.
    const both = [redis.blpop("list", 60), redis.blpop("empty", 60).catch((error: Error) => error)];
    await idle((3 / 4) * SILENCE_MS);
    await other.lpush("list", "1");
    expect(await both[0]).toEqual(["list", "1"]);
    await idle((3 / 4) * SILENCE_MS);
    expect(closings()).toBe(1);
    await idle(SILENCE_MS / 4);
    expect(await both[1]).toBeInstanceOf(Error);
    expect(closings()).toBe(2);
  });
});
