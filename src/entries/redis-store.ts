import type { WatchedStore } from "../store/contract.ts";
import type { RedisClient, RedisStoreOptions } from "../store/redis/client-store.ts";
import { redisStore as connected } from "../store/redis/redis.ts";

// After the store: so the code of stores stays together in the shared file, and gzip finds what repeats.

import { recorderOf } from "../operate/history/recorder.ts";

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
 *
 * Limiters, queues and breakers on this store record their counts for the dashboard (`history`).
 */
export function redisStore(client: string | RedisClient, options: RedisStoreOptions = {}): WatchedStore {
  const store = connected(client, options);
  if (store.onTurn && options.history !== false) recorderOf(store);
  return store;
}
