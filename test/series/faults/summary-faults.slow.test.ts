import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { HEADER_BYTES } from "../../../src/journal/format/chunk.ts";
import { summarize } from "../../../src/journal/steps/summarize.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { counted } from "../cold-journal.ts";

const NAME = "faults";
const EVENTS = 5000;

let server: RedisServer;
let client: Redis;
let store: Store;
let writer: Series;
let key: string;
beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
});
afterAll(async () => {
  client?.disconnect();
  await server?.stop();
});
beforeEach(async () => {
  await client.flushall();
  store = redisStore(server.url, { registry: false });
  writer = new Series(store, NAME);
  key = store.keyOf(NAME);
  for (let i = 0; i < 5; i++) await writer.recordMany(some(i));
  return async () => {
    await writer.close();
    await store.close();
  };
});

const some = (seed: number) => Array.from({ length: EVENTS / 5 }, (_, i) => (seed * 31 + i * 7) % 1009);

async function ask() {
  const { asked, store: counting } = counted(store);
  const reader = new Series(counting, NAME);
  const stats = await reader.stats({ approximate: { rankError: 0.2 } });
  await reader.close();
  return { stats, asked };
}

/** Exactly this number of events, reported as exact. */
async function expectExact(count: number) {
  const { stats } = await ask();
  expect(stats).toMatchObject({ count, degraded: false, approximate: { rankError: 0, events: 0 } });
}

async function expectApproximate(count: number) {
  const { stats, asked } = await ask();
  expect(stats.count).toBe(count);
  expect(stats.approximate!.rankError).toBeGreaterThan(0);
  expect(asked).toEqual(["summary/approximate"]);
}

test("a missing or unreadable summary is ignored", async () => {
  await expectExact(EVENTS);
  expect((await ask()).asked).toEqual(["summary/approximate"]);
  await writer.summarize({ rankError: 0.2 });
  await expectApproximate(EVENTS);
  const summary = (await client.getBuffer(`${key}:summary`))!;
  const other = Buffer.from(summary);
  other[0] = 130;
  const counts = Buffer.from(summary);
  counts.writeUInt32LE(0xffff_ffff, 112);
  const points = Buffer.from(summary);
  points.writeUInt32LE(0xffff_ffff, 120 + 20 * summary.readUInt32LE(108) + 76);
  const first = 120 + 20 * summary.readUInt32LE(108);
  // Damaged numbers: selection among them might never end.
  const [strides, gone, few, unordered, nan, number] = Array.from({ length: 6 }, () =>
    Buffer.from(summary),
  ) as Buffer[];
  strides!.writeUInt32LE(0, first + 72);
  gone!.writeUInt32LE(0xffff_ffff, first + 20);
  few!.writeUInt32LE(0xffff_fff0, first + 16);
  unordered!.writeFloatLE(1e9, first + 80);
  nan!.writeFloatLE(Number.NaN, first + 84);
  // A number that adding one does not change: its reader would ask for chunks without end.
  number!.writeDoubleLE(-(2 ** 57), 8);
  const spoilt: Uint8Array[] = [
    ...[other, counts, strides!, gone!, few!, unordered!, nan!, number!],
    Buffer.alloc(500),
    Buffer.from("hello"),
    Buffer.concat([summary, Buffer.alloc(1)]),
  ];
  for (let length = 0; length < summary.length; length += 41) spoilt.push(summary.subarray(0, length));
  for (const bytes of spoilt) {
    await client.set(`${key}:summary`, Buffer.from(bytes));
    await expectExact(EVENTS);
  }
  await client.del(`${key}:summary`);
  await client.lpush(`${key}:summary`, "a list");
  await expectExact(EVENTS);
  await client.del(`${key}:summary`);
  await expectExact(EVENTS);
  await client.set(`${key}:summary`, summary);
  await expectApproximate(EVENTS);
});

test("a user without access to the summary gets an exact answer", async () => {
  await writer.summarize({ rankError: 0.2 });
  await client.call("ACL", "SETUSER", "some", "on", "nopass", "+@all", `~${key}`);
  const usual = store;
  const other = new Redis(server.url, { username: "some", password: "x" });
  onTestFinished(() => other.disconnect());
  store = redisStore(other as unknown as IoredisClient, { registry: false });
  const { stats } = await ask().finally(() => store.close());
  store = usual;
  expect(stats).toMatchObject({ count: EVENTS, approximate: { rankError: 0, events: 0 } });
});

test("a summary of lost events is not used", async () => {
  const before = (await client.getBuffer(key))!;
  await writer.recordMany(some(7));
  await writer.summarize({ rankError: 0.2 });
  await expectApproximate(EVENTS * 1.2);
  const after = (await client.getBuffer(key))!;
  // A failover lost the last frame.
  await client.set(key, before, "PX", 60_000);
  await expectExact(EVENTS);
  // Another one of the same length in its place.
  const foreign = Buffer.from(after);
  foreign.writeUInt32LE(99, before.length + 4);
  await client.set(key, foreign, "PX", 60_000);
  await expectExact(EVENTS * 1.2);
  // The same number, another birth.
  const born = Buffer.from(after);
  born.writeUInt32LE(12_345, 24);
  await client.set(key, born, "PX", 60_000);
  await expectExact(EVENTS * 1.2);
  // Chunks closed since that do not lead there.
  born.writeDoubleLE(after.readDoubleLE(8) + 1, 8);
  await client.set(key, born, "PX", 60_000);
  const { stats } = await ask();
  expect(stats).toMatchObject({ count: EVENTS * 1.2, approximate: { rankError: 0, events: 0 } });
  await client.set(key, after, "PX", 60_000);
  await expectApproximate(EVENTS * 1.2);
});

test("a summary that arrives late or twice does no harm", async () => {
  await writer.summarize({ rankError: 0.2 });
  const summary = (await client.getBuffer(`${key}:summary`))!;
  await writer.recordMany(some(8));
  await client.del(`${key}:summary`);
  expect(await store.run(summarize, key, summary)).toBe(true);
  expect(await store.run(summarize, key, summary)).toBe(true);
  expect(await client.pexpiretime(`${key}:summary`)).toBe(await client.pexpiretime(key));
  await expectApproximate(EVENTS * 1.2);
  const open = (await client.getBuffer(key))!;
  await writer.delete();
  // The guard of the deleted series.
  expect(await client.keys("*")).toEqual([key]);
  expect(await store.run(summarize, key, summary)).toBe(false);
  await writer.recordMany(some(9));
  expect(await store.run(summarize, key, summary)).toBe(false);
  expect(await client.keys("*")).toEqual([key]);
  // The journal as it was before the summary.
  await client.set(key, open.subarray(0, HEADER_BYTES), "PX", 60_000);
  expect(await store.run(summarize, key, summary)).toBe(false);
});

test("a wrong argument is refused before any request", async () => {
  const { asked, store: counting } = counted(store);
  const series = new Series(counting, NAME);
  for (const approximate of [
    null,
    1,
    {},
    { rankError: -0.01 },
    { rankError: 0.51 },
    { rankError: Number.NaN },
    { rankError: "1" },
    { rankError: 0.1, more: 1 },
  ])
    await expect(series.stats({ approximate } as never)).rejects.toMatchObject({ code: "ARGUMENT" });
  const approximate = { rankError: 0.1 };
  for (const options of [{ where: "server" }, { where: "x" }, { maxAge: 5 }, { span: "2h" }])
    await expect(series.stats({ approximate, ...options } as never)).rejects.toMatchObject({ code: "ARGUMENT" });
  await expect(series.recordAndGet(1, { approximate } as never)).rejects.toMatchObject({ code: "ARGUMENT" });
  await expect(Series.stats([series], { approximate } as never)).rejects.toMatchObject({ code: "ARGUMENT" });
  for (const rankError of [0, 0.001, 0.3, Number.NaN, "x", null])
    await expect(series.summarize({ rankError } as never)).rejects.toMatchObject({ code: "ARGUMENT" });
  expect(asked).toEqual([]);
  await series.close();
  await expect(series.stats({ approximate })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(series.summarize()).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("without events no summary is published", async () => {
  await client.flushall();
  const series = new Series(store, NAME);
  await series.summarize();
  expect(await client.keys("*")).toEqual([]);
  const { count, approximate } = await series.stats({ approximate: { rankError: 0.1 } });
  expect([count, approximate]).toEqual([0, { rankError: 0, events: 0 }]);
  await series.close();
});
