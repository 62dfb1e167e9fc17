import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Breaker, redisStore, type Store } from "../../src/entries/index.ts";
import { VERDICT } from "../../src/generated/layouts/breaker.ts";
import { flush } from "../../src/limits/breaker/flush.ts";
import { breakerSettings } from "../../src/limits/breaker/options.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

const ID = "0123456789abcdef";
const OPTIONS = { name: "old", span: "1m", failures: 5 } as const;
const { rule } = breakerSettings(OPTIONS);

let server: RedisServer;
let redis: Redis;
let store: Store;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  store = redisStore(server.url);
});
afterAll(async () => {
  await store?.close();
  redis?.disconnect();
  await server?.stop();
});

/**
 * A circuit of format 2 with one process, whose last batch was its seventh, and a record of 3 calls, of which 2 failed. Two processes
 * called lately. Half-open, a probe of the process runs: its first.
 */
function formatTwo({ state, endsMs, nowMs }: { state: number; endsMs: number; nowMs: number }): Buffer {
  const head = Buffer.alloc(112);
  head.writeUInt8(2, 0);
  head.writeUInt8(state, 1);
  head.writeUInt16LE(state === 2 ? 1 : 0, 2);
  head.writeUInt32LE(1, 4);
  head.writeDoubleLE(30_000, 88);
  head.writeUInt32LE(2, 104);
  const census = Buffer.alloc(17 * 8);
  const times = [nowMs - 1000, 1000, nowMs - 1000, 1000 + endsMs, Number.NEGATIVE_INFINITY];
  for (const [i, value] of [...times, 3, 2, 0].entries()) head.writeDoubleLE(value, 8 + 8 * i);
  const process = Buffer.alloc(32);
  process.write(ID, "latin1");
  process.writeUInt32LE(7, 16);
  process.writeDoubleLE(900, 20);
  const record = Buffer.alloc(20);
  record.writeDoubleLE(900, 0);
  for (const [i, count] of [3, 2, 0].entries()) record.writeUInt32LE(count, 8 + 4 * i);
  const probe = Buffer.from(process.subarray(0, 28));
  probe.writeUInt32LE(1, 16);
  probe.writeDoubleLE(60_000, 20);
  return Buffer.concat([head, census, ...(state === 2 ? [probe] : []), process, ...(state === 0 ? [record] : [])]);
}

const key = () => `${store.keyOf("old")}:breaker:60000`;
const handed = (sequence: number) => ({
  rule,
  id: ID,
  sequence,
  batch: [0, 1, 1, 0],
  settled: [],
  wanted: 0,
  first: 1,
});

test("a closed circuit of format 2 keeps its window and the batches of its processes, and is written as format 3", async () => {
  const nowMs = Number((await redis.time())[0]) * 1000;
  await redis.set(key(), formatTwo({ state: 0, endsMs: 0, nowMs }));
  expect(await store.run(flush, key(), handed(7))).toMatchObject({ state: "closed", calls: 3, failures: 2, place: 1 });
  expect((await redis.getBuffer(key()))![0]).toBe(3);
  expect(await store.run(flush, key(), handed(7))).toMatchObject({ calls: 3, failures: 2, callers: 2 });
  expect(await store.run(flush, key(), handed(8))).toMatchObject({ calls: 4, failures: 3, callers: 3 });
  const breaker = new Breaker(store, OPTIONS);
  expect(await breaker.ready()).toMatchObject({ state: "closed", calls: 4, failures: 3 });
  for (let call = 0; call < 2; call++) await breaker.run(() => Promise.reject(new Error("bad"))).catch(() => {});
  await breaker.flush();
  expect(breaker.stats().state).toBe("open");
});

test("an open circuit of format 2 stays open until its end", async () => {
  const nowMs = Number((await redis.time())[0]) * 1000;
  await redis.set(key(), formatTwo({ state: 1, endsMs: 3_600_000, nowMs }));
  const stats = await new Breaker(store, OPTIONS).ready();
  expect(stats).toMatchObject({ state: "open", calls: 3, failures: 2, degraded: false });
  expect(stats.retryAfterMs).toBeGreaterThan(3_500_000);
});

test("a half-open circuit of format 2 keeps its probe, which fails; then the process probes last", async () => {
  const nowMs = Number((await redis.time())[0]) * 1000;
  await redis.set(key(), formatTwo({ state: 2, endsMs: 0, nowMs }));
  const quorum = { ...rule, quorum: 0.5 };
  const settled = [{ number: 1, verdict: VERDICT.failure }];
  const failed = { ...handed(7), rule: quorum, settled };
  expect(await store.run(flush, key(), failed)).toMatchObject({ state: "open", callers: 2, place: 1 });
  const value = (await redis.getBuffer(key()))!;
  expect([value[0], value.readUInt32LE(112), value.readUInt32LE(116)]).toEqual([3, 0, 1]);
  expect(value.subarray(124 + 17 * 8).toString("latin1", 0, 16)).toBe(ID);
});

test("a circuit of a later format is refused as it is, and the process goes on alone", async () => {
  const later = Buffer.concat([Buffer.from([4]), Buffer.alloc(400)]);
  await redis.set(key(), later);
  const breaker = new Breaker(store, OPTIONS);
  await expect(breaker.flush()).rejects.toMatchObject({
    code: "CORRUPT",
    message: expect.stringContaining("the value is no breaker of format 3"),
  });
  expect(await redis.getBuffer(key())).toEqual(later);
  expect(await breaker.ready()).toMatchObject({ state: "closed", degraded: true });
});
