import type { WatchedStore } from "../contract.ts";
import { clientStore, ownStore, type RedisClient, type RedisStoreOptions } from "./client-store.ts";

/** A store in Redis, where there is TCP. `src/entries/redis-store.ts` says what it does, and adds the history. */
export function redisStore(client: string | RedisClient, options: RedisStoreOptions = {}): WatchedStore {
  return typeof client === "string" ? ownStore(() => import("ioredis"), client, options) : clientStore(client, options);
}
