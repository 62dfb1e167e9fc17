import { memoryStore, redisStore, type Store } from "../index.ts";
import type { Clock } from "../time.ts";

/** The shared store where a URL is given, else the embedded one, on `clock` if given. */
export function openStore(redis: string | undefined, prefix: string | undefined, clock?: Clock): Store {
  if (redis !== undefined) return redisStore(redis, prefix === undefined ? {} : { prefix });
  return memoryStore(clock === undefined ? {} : { clock });
}
