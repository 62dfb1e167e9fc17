import { Redis } from "ioredis";
import { LockedWindow, redisStore } from "../../src/entries/index.ts";
import { preloadTimes, type Rival, type RivalWindow } from "./contract.ts";

async function open(redisUrl: string, name: string, windowMs: number, preload: Float32Array): Promise<RivalWindow> {
  const redis = new Redis(redisUrl);
  const store = redisStore(redisUrl, { deadline: 10_000 });
  const window = new LockedWindow(store, name, { span: windowMs });
  const key = `sw_counter_bytes:{${name}}`;
  const times = BigInt64Array.from(preloadTimes(preload.length, windowMs), BigInt);
  // A window that another process filled is kept.
  if (preload.length > 0) await redis.hset(key, { timestamps: bytesOf(times), values: bytesOf(preload) });

  return {
    async add(value) {
      const { count, sum, p99 } = await window.addAndGetStats(value);
      return { count, sum, p99 };
    },
    redisBytes: async () => Number(await redis.memory("USAGE", key)),
    note: () => "callers of one process share a step",
    async close() {
      await redis.del(key, `fence:${store.keyOf(`sw_counter_bytes:${name}`)}`);
      await store.close();
      await redis.quit();
    },
  };
}

function bytesOf(column: BigInt64Array | Float32Array): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength);
}

/** V3's own hash under oriel's lock, computed in the process. Every step reads and writes the whole window. */
export const lockedWindow: Rival = { name: "oriel LockedWindow", missing: () => undefined, open };
