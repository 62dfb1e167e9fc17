import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { benchQueue, SMALL_QUEUE } from "../../bench/queue/queue.ts";
import { payloadOf, Tally } from "../../bench/queue/queue-tally.ts";
import { BULLMQ } from "../../bench/rivals/queue/queue-bullmq.ts";
import { serverAhead } from "../../bench/series/server-clock.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server.stop());

const missing = BULLMQ.missing();
if (missing) console.warn(`skipped: ${BULLMQ.name}: ${missing}`);

test("queue: each measure on both sides; every message is handled once, and none early", async () => {
  const { rows } = await benchQueue(server.url, SMALL_QUEUE);
  expect(rows.map(({ what }) => what)).toEqual([
    "add one by one, messages/s",
    "handle, concurrency 1, messages/s",
    "handle, concurrency 1, prefetch 16, messages/s",
    "add in bulk, messages/s",
    "handle, concurrency 50, messages/s",
    "handle, concurrency 50, prefetch 200, messages/s",
    "late, p50, ms",
    "late, p99, ms",
    "late, max, ms",
    "early, messages",
    "idle, commands/s and worker",
    "waiting, bytes/message",
  ]);
  const queues = missing ? (["oriel"] as const) : (["BullMQ", "oriel"] as const);
  for (const row of rows)
    for (const queue of queues) if (!/^(early|idle)/.test(String(row.what))) expect(row[queue]).toBeGreaterThan(0);
  expect(rows.find(({ what }) => what === "early, messages")?.oriel).toBe(0);
});

test("a tally is full when all messages were handled; it refuses a message handled twice and a missing one", async () => {
  const tally = new Tally(2);
  tally.handle(payloadOf(1));
  expect(() => tally.verify("it")).toThrow("it handled message 0 0 times");
  tally.handle(payloadOf(1));
  await tally.full;
  expect(() => tally.verify("it")).toThrow("it handled message 0 0 times");
  tally.handle(payloadOf(0));
  expect(() => tally.verify("it")).toThrow("it handled message 1 2 times");
});

test("the error of the server's clock is at most one round trip", async () => {
  const raw = new Redis(server.url);
  const { aheadMs, eitherWayMs } = await serverAhead(raw);
  const heldMs = performance.now() + aheadMs;
  const [seconds, microseconds] = await raw.time();
  expect(Number(seconds) * 1000 + Number(microseconds) / 1000).toBeGreaterThanOrEqual(heldMs - eitherWayMs - 0.01);
  await raw.quit();
});
