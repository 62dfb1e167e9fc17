import { createRequire } from "node:module";
import { Redis } from "ioredis";
import { Lock, redisStore } from "../../../src/entries/index.ts";

/** One way to hold a lock in Redis. `pair` acquires it, runs `step` and releases it. It returns false when not acquired. */
export interface LockClient {
  pair(signal: AbortSignal, step: () => Promise<void>): Promise<boolean>;
  close(): Promise<void>;
}

export interface LockRival {
  readonly name: string;
  missing(): string | undefined;
  open(redisUrl: string, name: string): Promise<LockClient>;
}

const LEASE_MS = 60_000;
const WAIT_MS = 10_000;
const require = createRequire(import.meta.url);

function missing(name: string): () => string | undefined {
  return () => {
    try {
      require.resolve(name);
      return undefined;
    } catch {
      return `${name} is not installed (npm ci in bench/)`;
    }
  };
}

const oriel: LockRival = {
  name: "oriel",
  missing: () => undefined,
  async open(redisUrl, name) {
    const store = redisStore(redisUrl, { deadline: "1m" });
    const lock = new Lock(store, name);
    return {
      async pair(signal, step) {
        const held = await lock.tryLock({ wait: WAIT_MS, lease: LEASE_MS, signal }).catch(unlessAborted(signal));
        if (!held) return false;
        await step();
        return held.release();
      },
      close: () => store.close(),
    };
  },
};

const redisSemaphore: LockRival = {
  name: "redis-semaphore",
  missing: missing("redis-semaphore"),
  async open(redisUrl, name) {
    const { Mutex } = require("redis-semaphore") as typeof import("redis-semaphore");
    const redis = new Redis(redisUrl);
    return {
      async pair(signal, step) {
        const mutex = new Mutex(redis, name, { acquireTimeout: WAIT_MS, lockTimeout: LEASE_MS });
        if (!(await mutex.tryAcquire(signal).catch(unlessAborted(signal)))) return false;
        await step();
        await mutex.release();
        return true;
      },
      close: async () => void (await redis.quit()),
    };
  },
};

const redlock: LockRival = {
  name: "redlock",
  missing: missing("redlock"),
  async open(redisUrl, name) {
    const { default: Redlock } = require("redlock") as typeof import("redlock");
    const redis = new Redis(redisUrl);
    // Its own retry delays (200 ms ± 100 ms). By default it gives up after ten, about 2 s.
    const client = new Redlock([redis], { retryCount: WAIT_MS / 200 });
    return {
      async pair(_signal, step) {
        const lock = await client.acquire([name], LEASE_MS).catch((error: Error) => {
          if (error.name === "ExecutionError") return null;
          throw error;
        });
        if (!lock) return false;
        await step();
        await lock.release();
        return true;
      },
      close: async () => void (await redis.quit()),
    };
  },
};

function unlessAborted(signal: AbortSignal) {
  return (error: unknown): null => {
    if (signal.aborted) return null;
    throw error;
  };
}

export const LOCK_RIVALS: readonly LockRival[] = [redisSemaphore, redlock, oriel];
