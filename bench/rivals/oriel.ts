import { Redis } from "ioredis";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Rival, RivalWindow } from "./contract.ts";

/** Values per preloading call. */
const BATCH = 65_535;

async function open(redisUrl: string, name: string, windowMs: number, preload: Float32Array): Promise<RivalWindow> {
  const redis = new Redis(redisUrl);
  const store = redisStore(redisUrl, { deadline: "1m" });
  const series = new Series(store, name, { retention: windowMs, values: "float32" });
  for (let from = 0; from < preload.length; from += BATCH)
    await series.recordMany(preload.subarray(from, from + BATCH));

  return {
    async add(value) {
      const { count, sum, percentiles } = await series.recordAndGet(value, { span: windowMs, percentiles: [99] });
      return { count, sum, p99: percentiles[99] as number };
    },
    async redisBytes() {
      let sizeBytes = 0;
      for (const key of [store.keyOf(name), ...(await closedChunks(redis, store.keyOf(name)))])
        sizeBytes += Number(await redis.memory("USAGE", key));
      return sizeBytes;
    },
    note: () => "",
    async close() {
      await series.delete();
      await series.close();
      await store.close();
      await redis.quit();
    },
  };
}

/** Keys of a series' closed chunks, found by SCAN, independently of the protocol. */
export async function closedChunks(redis: Redis, openKey: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const keys of redis.scanStream({ match: `${openKey}:*`, count: 1000 }))
    for (const key of keys as string[]) found.add(key);
  return [...found];
}

/** `Series.recordAndGet`: one round trip, all statistics from the cached copy of the process. */
export const oriel: Rival = { name: "oriel", missing: () => undefined, open };
