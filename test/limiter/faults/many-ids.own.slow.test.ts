import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { Limiter, memoryStore, redisStore, slidingWindow } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

const { ORIEL_LIMITER_IDS = "100000" } = process.env;
const IDS = Number(ORIEL_LIMITER_IDS);
const PER_TURN = 5000;
const SPAN_MS = 2000;
const limiterOn = (store: Store) =>
  new Limiter(store, [slidingWindow({ limit: 10, span: SPAN_MS })], { name: "ids", denyCache: 100 });

async function takeAllIds(limiter: Limiter): Promise<void> {
  for (let first = 0; first < IDS; first += PER_TURN) {
    const taken = await Promise.all(Array.from({ length: PER_TURN }, (_, i) => limiter.take(`id${first + i}`)));
    expect(taken.every(({ allowed, remaining }) => allowed && remaining === 9)).toBe(true);
  }
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
function heapBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test(`T39 memory: after ${IDS} ids expire, the heap shrinks back`, async () => {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore({ clock: () => clock.nowMs, maxBytes: 2 ** 30, registry: false });
  const limiter = limiterOn(store);
  const before = heapBytes();
  await takeAllIds(limiter);
  const grown = heapBytes() - before;
  expect(grown).toBeGreaterThan(IDS * 100);
  expect(store.sizeBytes).toBeGreaterThan(IDS * 100);
  clock.nowMs += SPAN_MS + 1;
  // Each step looks at four entries: calls of others clear away what nobody asks for any more.
  for (let others = 0; others < IDS / 4 + PER_TURN; others += PER_TURN)
    await Promise.all(Array.from({ length: PER_TURN }, (_, i) => limiter.peek(`other${i}`)));
  expect(store.sizeBytes).toBe(0);
  expect(heapBytes() - before).toBeLessThan(grown / 10);
});

test(`T39 Redis: after ${IDS} ids expire, keys and memory shrink back`, async () => {
  const server = await startRedis({ args: ["--enable-debug-command", "yes"] });
  const [raw, store] = [new Redis(server.url), redisStore(server.url, { deadline: 30_000, registry: false })];
  try {
    const limiter = limiterOn(store);
    const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await raw.info("memory"))![1]);
    await limiter.peek("warm");
    const [before, heapBefore] = [await usedBytes(), heapBytes()];
    // However long it takes to have them all: none goes meanwhile.
    await raw.call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
    await takeAllIds(limiter);
    expect(await raw.dbsize()).toBe(IDS);
    const grown = (await usedBytes()) - before;
    expect(grown).toBeGreaterThan(IDS * 100);
    // The last turn's calls may still be on their way out; what a deadline of 30 s held would not be gone.
    await until("the heap is back", () => heapBytes() - heapBefore < grown / 10);
    await raw.call("DEBUG", "SET-ACTIVE-EXPIRE", "1");
    await until("Redis has expired them all", async () => (await raw.dbsize()) === 0);
    await until("their memory is free", async () => (await usedBytes()) - before < grown / 10);
  } finally {
    await store.close();
    raw.disconnect();
    await server.stop();
  }
});
