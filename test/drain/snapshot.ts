import type { Redis } from "ioredis";

/** Saves the keys' values. Returns a function that restores them. */
export async function snapshotOf(raw: Redis, keys: readonly string[]): Promise<() => Promise<void>> {
  const dumps = await Promise.all(keys.map((key) => raw.dumpBuffer(key)));
  return async () => {
    for (const [i, key] of keys.entries()) {
      await raw.del(key);
      if (dumps[i]) await raw.restore(key, 0, dumps[i]);
    }
  };
}
