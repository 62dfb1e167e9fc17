import type { WatchedStore } from "../contract.ts";
import { clientStore, ownStore, type RedisClient, type RedisStoreOptions } from "./client-store.ts";

/**
 * A store in Redis 7 or later, or Valkey. With a URL (redis://, rediss://, or the path of a unix socket) the store
 * opens its own connection and closes it with the store. Only a URL loads ioredis. A client that you pass stays open:
 * ioredis 5 or 6 (single, Sentinel, Cluster) or node-redis 5 or 6 (client, cluster). Pools and sentinel clients of
 * node-redis are refused, because they may send a command twice.
 *
 * Calls of one operation made in the same turn of the event loop are sent as one script call. Each has its own result
 * and error. Every request settles within `deadline`. An unreachable server does not make this function throw. Calls
 * reject with UNAVAILABLE, and succeed again when the server is back. An AbortSignal rejects only its own call, with
 * the signal's reason, unchanged. A step that was already sent may still run. Bytes passed to a call must not change
 * until it settles.
 */
export function redisStore(client: string | RedisClient, options: RedisStoreOptions = {}): WatchedStore {
  return typeof client === "string" ? ownStore(() => import("ioredis"), client, options) : clientStore(client, options);
}
