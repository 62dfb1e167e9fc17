import { createRequire } from "node:module";
import type { Redis } from "ioredis";

const require = createRequire(import.meta.url);

/** Why redis-semaphore cannot be used, or undefined when it can. */
export function mutexMissing(): string | undefined {
  try {
    require.resolve("redis-semaphore");
    return undefined;
  } catch {
    return "redis-semaphore is not installed (npm ci in bench/)";
  }
}

/**
 * Runs `step` under the lock `lock:<name>`: waits up to 10 s, lease 60 s, released only by its holder.
 * Undefined when the lock was not acquired.
 */
export async function underMutex<T>(
  redis: Redis,
  name: string,
  signal: AbortSignal,
  step: () => Promise<T>,
): Promise<T | undefined> {
  const { Mutex } = require("redis-semaphore") as typeof import("redis-semaphore");
  const mutex = new Mutex(redis, `lock:${name}`, { acquireTimeout: 10_000, lockTimeout: 60_000 });
  const acquired = await mutex.tryAcquire(signal).catch((error: unknown) => {
    if (signal.aborted) return false;
    throw error;
  });
  if (!acquired) return undefined;
  try {
    return await step();
  } finally {
    await mutex.release();
  }
}
