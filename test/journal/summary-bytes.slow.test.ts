import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { column, writeSingly } from "../series/cold-journal.ts";
import { rankErrorOf } from "../stats/oracle.ts";

const EVENTS = 1_000_000;
const NAME = "large";

let server: RedisServer;
let proxy: FaultProxy;
let client: Redis;
let store: Store;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
  client = new Redis(server.url);
});
afterAll(async () => {
  client?.disconnect();
  await proxy?.close();
  await server?.stop();
});
beforeEach(async () => {
  await client.flushall();
  store = redisStore(proxy.url, { deadline: 20_000 });
  return () => store.close();
});

async function inLargeFrames(): Promise<void> {
  const writer = new Series(store, NAME);
  const values = column(EVENTS);
  for (let from = 0; from < EVENTS; from += 60_000) await writer.recordMany(values.subarray(from, from + 60_000));
  await writer.close();
}

/** The calls of a reader without a copy, and the size of the last reply. */
async function ask(rankError: number) {
  const before = proxy.handedOn.get("EVALSHA") ?? 0;
  const reader = new Series(store, NAME);
  const stats = await reader.stats({ percentiles: [1, 50, 99], approximate: { rankError } });
  await reader.close();
  const calls = (proxy.handedOn.get("EVALSHA") ?? 0) - before;
  return { stats, calls, bytes: proxy.sizes.get("EVALSHA")!.reply };
}

test.each([
  ["recorded one by one", () => writeSingly(store, NAME, EVENTS), 0.01, 20e6],
  ["recorded in large frames", inLargeFrames, 0.02, 4e6],
])(
  "a cold reader of a million events, %s, moves at most a hundredth of their bytes",
  async (_name, write, rankError, minBytes) => {
    await write();
    const key = store.keyOf(NAME);
    const keys = (await client.keys(`${key}*`)).sort();
    const rawBytes = (await Promise.all(keys.map((each) => client.strlen(each)))).reduce((sum, size) => sum + size, 0);
    expect(rawBytes).toBeGreaterThan(minBytes);
    const publisher = new Series(store, NAME);
    await publisher.summarize({ rankError });
    const exact = await publisher.stats({ percentiles: [1, 50, 99] });
    await publisher.close();
    // An event more: what came after the summary is read as it is.
    const writer = new Series(store, NAME);
    await writer.record(5);
    await writer.close();

    const { stats, calls, bytes } = await ask(rankError);
    expect(calls).toBe(1);
    expect(bytes).toBeLessThanOrEqual(rawBytes / 100);
    expect(stats.approximate!.events).toBe(0);
    expect(stats.approximate!.rankError).toBeGreaterThan(0);
    expect(stats.approximate!.rankError).toBeLessThanOrEqual(rankError);
    expect([stats.count, stats.min, stats.max]).toEqual([EVENTS + 1, exact.min, exact.max]);
    expect(Math.abs(stats.sum - exact.sum - 5)).toBeLessThan(1e-9 * exact.sum);
    expect(Math.abs(stats.variance / exact.variance - 1)).toBeLessThan(1e-5);
    const values = [...column(EVENTS), 5];
    for (const p of [1, 50, 99] as const)
      expect(rankErrorOf(values, stats.percentiles[p], p)).toBeLessThanOrEqual(stats.approximate!.rankError);

    // An exact query transfers the whole window.
    const whole = await ask(0);
    expect(whole.stats).toMatchObject({ count: EVENTS + 1, approximate: { rankError: 0, events: 0 } });
    expect(whole.stats.percentiles[50]).toBe(exact.percentiles[50]);
  },
);
