import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readOutlines } from "../../src/engine/journal/sealed/steps/read-outlines.ts";
import { readWindow } from "../../src/engine/journal/steps/read-window.ts";
import { memoryStore, redisStore, Series } from "../../src/entries/index.ts";
import { CHUNK_NUMBER_AT } from "../../src/generated/layouts/journal.ts";
import type { Store } from "../../src/store/contract.ts";
import type { IoredisClient } from "../../src/store/redis/ioredis-client.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { ask, counted, fill, NAME, shortChunks } from "./cold-journal.ts";
import { type OpenStore, onMemory, onRedis6 } from "./contract/stores.ts";

describe("on one server", () => {
  let server: RedisServer;
  let client: Redis;
  let store: Store;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });
  beforeEach(async () => {
    await client.flushall();
    store = redisStore(server.url, { registry: false });
    return () => store.close();
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });

  test("a chunk that came with the answer is not read again", async () => {
    shortChunks();
    const values = await fill(store);
    const { asked, store: counting } = counted(store);
    expect((await ask(counting)).values).toEqual(values);
    expect(asked).toEqual(["journal/read-outlines", "journal/read"]);
  });

  test("a user with access to declared keys only requests the rest by name", async () => {
    shortChunks();
    const values = await fill(store);
    const key = store.keyOf(NAME);
    const closed = (await client.keys(`${key}:*`)).sort();
    // All rights on the open chunk and on every closed one but the last three.
    await client.call(
      "ACL",
      "SETUSER",
      "some",
      "on",
      "nopass",
      "+@all",
      `~${key}`,
      ...closed.slice(0, -3).map((k) => `~${k}`),
    );
    const some = new Redis(server.url, { username: "some", password: "x" });
    onTestFinished(() => some.disconnect());
    const less = redisStore(some as unknown as IoredisClient, { registry: false });
    await expect(ask(less)).rejects.toMatchObject({ name: "OrielError", message: /NOPERM|permission/i });
    await client.call("ACL", "SETUSER", "some", `~${key}:*`);
    expect((await ask(less)).values).toEqual(values);
    await less.close();
  });

  test("a chunk with another birth or number, of another format or cut short is not used", async () => {
    shortChunks();
    const values = await fill(store);
    const key = store.keyOf(NAME);
    const closed = (await client.keys(`${key}:*`)).sort();
    const victim = closed.at(-3)!;
    const whole = (await client.getBuffer(victim))!;
    const foreign = Buffer.from(whole);
    foreign.writeUInt32LE((foreign.readUInt32LE(24) ^ 1) >>> 0, 24);
    const other = Buffer.from(whole);
    other[0] = 2;
    const misnumbered = Buffer.from(whole);
    misnumbered.writeDoubleLE(misnumbered.readDoubleLE(CHUNK_NUMBER_AT) - 1000, CHUNK_NUMBER_AT);
    const number = victim.slice(key.length + 1);
    for (const [bytes, error] of [
      [misnumbered, new RegExp(`key "${key}:${number}" is damaged: chunk ${number} has the number`)],
      [foreign, /kept changing/],
      [other, /no journal of format 1/],
      [whole.subarray(0, 60), /./],
    ] as const) {
      await client.set(victim, bytes);
      await expect(ask(store)).rejects.toMatchObject({ name: "OrielError", message: error });
    }
    await client.del(victim);
    await client.lpush(victim, "a list");
    await expect(ask(store)).rejects.toMatchObject({ code: "CORRUPT" });
    await client.del(victim);
    const { stats } = await ask(store);
    expect(stats).toMatchObject({ degraded: true, degradedBy: "lost" });
    expect(stats.count).toBeLessThan(values.length);
    await client.set(victim, whole, "PX", 60_000);
    expect((await ask(store)).values).toEqual(values);
  });
});

describe.each([
  ["memory", onMemory],
  ["redis", onRedis6],
])("on a stepped clock, in %s", (_name, open: () => Promise<OpenStore>) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  test("a chunk that has expired by the next one's header is not requested", async () => {
    const { store, clock } = opened;
    const writer = new Series(store, NAME, { retention: "10s" });
    const { asked, store: counting } = counted(store);
    let afterExpiry = 0;
    for (let second = 0; second < 200; second++) {
      clock.nowMs += 1000;
      await writer.record(second);
      if (second % 7 !== 0) continue;
      asked.length = 0;
      const reader = new Series(counting, NAME, { retention: "10s" });
      const { count, degraded, min } = await reader.stats();
      const expected = Math.min(10, second + 1);
      expect([count, min, degraded]).toEqual([expected, second + 1 - expected, false]);
      expect(asked).toEqual(["journal/read-outlines"]);
      if (second > 100) afterExpiry++;
      await reader.close();
    }
    expect(afterExpiry).toBeGreaterThan(10);
    await writer.close();
  });

  test("recordAndGet takes one request in a process that knows the time", async () => {
    shortChunks();
    await opened.clear();
    const values = await fill(opened.store);
    const { asked, store: counting } = counted(opened.store);
    const series = new Series(counting, NAME, { values: "float64" });
    const { count } = await series.recordAndGet(-1);
    expect(count).toBe(values.length + 1);
    expect(asked.filter((name) => name !== "journal/rotate")).toEqual([
      "journal/read",
      "journal/append-and-read-outlines",
    ]);
    expect((await series.recordAndGet(-2)).count).toBe(values.length + 2);
    expect(asked.filter((name) => name !== "journal/rotate").slice(2)).toEqual(["journal/append"]);
    await series.close();
  });
});

test("a store that finds no closed chunks is asked for them by name", async () => {
  shortChunks();
  const plain = memoryStore({ registry: false });
  const values = await fill(plain);
  const asked: string[] = [];
  const run: Store["run"] = (operation, key, input, options) => {
    asked.push(operation.name);
    const isBlind = operation.name === readWindow.name || operation.name === readOutlines.name;
    const blind = {
      ...operation,
      local: (keys: never, ...rest: [string, never, number]) =>
        operation.local!({ ...(keys as object), find: () => undefined } as never, ...rest),
    };
    return plain.run((isBlind ? blind : operation) as typeof operation, key, input, options);
  };
  expect((await ask({ ...plain, monotonic: plain.monotonic, run })).values).toEqual(values);
  expect(asked.length).toBeGreaterThan(10);
});
