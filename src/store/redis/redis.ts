import type { WatchedStore } from "../contract.ts";
import { clientStore, ownStore, type RedisClient, type RedisStoreOptions } from "./client-store.ts";

/**
 * A store in Redis 7 or later, or Valkey. A URL (redis://, rediss://, or the path of a unix socket) makes a connection
 * of its own, which ends with the store. Only a URL loads ioredis. A client that you pass stays open: ioredis 5 or 6
 * (single, Sentinel, Cluster) or node-redis 5 (client, cluster; its pools and sentinels send again by themselves and are
 * refused).
 *
 * Calls of one operation made in the same turn travel as one script call; each has its own result and error. Every
 * request settles within `deadline`. A server out of reach never throws here: calls reject with UNAVAILABLE, and succeed
 * again when it is back. An AbortSignal rejects its call, and no other, with the signal's reason, as it is; a step that
 * was already sent may still be run. Bytes given to a call must not change until it settles.
 */
export function redisStore(client: string | RedisClient, options: RedisStoreOptions = {}): WatchedStore {
  return typeof client === "string" ? ownStore(() => import("ioredis"), client, options) : clientStore(client, options);
}
