import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { append } from "../../src/engine/journal/steps/append.ts";
import type { IoredisClient } from "../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { startRedis } from "../harness/servers/redis-server.ts";

let server: Awaited<ReturnType<typeof startRedis>>;
let client: Redis;
beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

test("a refused append changes no byte, and restores a lost expiry", async () => {
  const store = redisStore(client as unknown as IoredisClient);
  const key = store.keyOf("refused");
  const nowMs = Date.now();
  const base = { clock: 0, valueType: 0, retentionMs: 5000, birth: 1, known: "none" as const };
  const input = { ...base, voidAfterMs: nowMs + 10_000 };
  const one = (at?: number) => encodeFrame(1, 1, Float32Array.of(1), at === undefined ? undefined : [at]);
  await store.run(append, key, { ...input, frames: [one()] });
  const [dump, expiry] = [await client.dumpBuffer(key), await client.pexpiretime(key)];
  const refused = [
    { ...input, frames: [one(nowMs - 60_000)] },
    { ...input, frames: [one(nowMs + 120_000), one(nowMs - 60_000)], retentionMs: 20_000 },
    { ...input, frames: [one()], valueType: 1 },
    { ...input, frames: [one()], clock: 1 },
    { ...input, frames: [one()], voidAfterMs: nowMs - 1 },
    { ...input, frames: [one()], voidAfterMs: nowMs + 60_000 },
  ];
  for (const each of refused) {
    await store.run(append, key, each);
    expect(await client.dumpBuffer(key)).toEqual(dump);
    expect(await client.pexpiretime(key)).toBe(expiry);
  }
  await client.persist(key);
  await store.run(append, key, refused[0]!);
  expect(await client.dumpBuffer(key)).toEqual(dump);
  expect(await client.pexpiretime(key)).toBe(expiry);
  await store.close();
});

test.each([
  ["a short string", (key: string) => client.set(key, "hello")],
  ["a long string", (key: string) => client.set(key, "hello".repeat(100))],
  ["a chunk of another format", (key: string) => client.set(key, Buffer.alloc(64, 2))],
  ["a list", (key: string) => client.rpush(key, "a", "b")],
])("%s under the key is CORRUPT, and does not change", async (_name, put) => {
  const store = redisStore(client as unknown as IoredisClient);
  const key = store.keyOf("foreign");
  await client.del(key);
  await put(key);
  const dump = await client.dumpBuffer(key);
  const { Series } = await import("../../src/entries/index.ts");
  const series = new Series(store, "foreign");
  for (const call of [
    () => series.record(1),
    () => series.stats(),
    () => series.stats({ maxAge: 1 }),
    () => series.recordAndGet(1),
    () => series.values(),
  ])
    await expect(call()).rejects.toMatchObject({ name: "OrielError", code: "CORRUPT" });
  expect(await client.dumpBuffer(key)).toEqual(dump);
  await store.close();
});
