import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { type Answer, preloadTimes, type Rival, type RivalWindow } from "./contract.ts";
import { mutexMissing, underMutex } from "./lock/mutex.ts";

/** Records one event on the sorted set `key`. V1 and V2 differ only here. */
type Step = (redis: Redis, key: string, windowMs: number, signal: AbortSignal) => Promise<Answer | undefined>;

/** V1 as documented: three awaited steps, together not atomic. Trims up to and including the cutoff. */
const threeSteps: Step = async (redis, key, windowMs) => {
  const now = Date.now();
  await redis.zadd(key, now, randomUUID());
  await redis.zremrangebyscore(key, "-inf", now - windowMs);
  return { count: await redis.zcard(key) };
};

/** V1 in one pipeline: the same three commands, together still not atomic. */
const onePipeline: Step = async (redis, key, windowMs) => {
  const now = Date.now();
  const replies = await redis
    .pipeline()
    .zadd(key, now, randomUUID())
    .zremrangebyscore(key, "-inf", now - windowMs)
    .zcard(key)
    .exec();
  const [error, count] = replies?.[2] ?? [new Error("the pipeline gave no reply"), 0];
  if (error) throw error;
  return { count: Number(count) };
};

/** V2: under the lock, trim strictly older than the cutoff, add, count; expiry twice the window. */
const underLock: Step = (redis, key, windowMs, signal) =>
  underMutex(redis, key, signal, async () => {
    const now = Date.now();
    await redis.zremrangebyscore(key, "-inf", `(${now - windowMs}`);
    await redis.zadd(key, now, randomUUID());
    const count = await redis.zcard(key);
    await redis.pexpire(key, 2 * windowMs);
    return { count };
  });

async function open(step: Step, redisUrl: string, key: string, windowMs: number, preload: Float32Array) {
  const redis = new Redis(redisUrl);
  const times = preloadTimes(preload.length, windowMs);
  for (let from = 0; from < times.length; from += 5000) {
    const entries = times.slice(from, from + 5000).flatMap((time) => [time, randomUUID()]);
    await redis.zadd(key, ...(entries as [number, string]));
  }
  return {
    add: (_value, signal) => step(redis, key, windowMs, signal),
    redisBytes: async () => Number(await redis.memory("USAGE", key, "SAMPLES", 1000)),
    note: () => "",
    async close() {
      await redis.unlink(key);
      await redis.quit();
    },
  } satisfies RivalWindow;
}

function rival(name: string, step: Step, missing: Rival["missing"]): Rival {
  return { name, missing, open: (...opening) => open(step, ...opening) };
}

/** Sorted sets of unique ids by time: exact counts and nothing else. */
export const sortedSets: readonly Rival[] = [
  rival("V1 sorted set", threeSteps, () => undefined),
  rival("V1 pipelined", onePipeline, () => undefined),
  rival("V2 mutex + sorted set", underLock, mutexMissing),
];
