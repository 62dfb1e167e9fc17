import { OrielError } from "../../base/errors.ts";
import type { WatchedStore } from "../contract.ts";
import { clientStore, type RedisClient, type RedisStoreOptions } from "./client-store.ts";

/**
 * A store in Redis 7 or later, or Valkey. The client that you pass stays open: ioredis 5 or 6 (single, Sentinel,
 * Cluster) or node-redis 5 or 6 (client, cluster). Pools and sentinel clients of node-redis are refused, because they may
 * send a command twice. A URL throws UNAVAILABLE here, because this runtime has no TCP.
 *
 * Calls of one operation made in the same turn of the event loop are sent as one script call. Each has its own result
 * and error. Every request settles within `deadline`. An unreachable server does not make this function throw. Calls
 * reject with UNAVAILABLE, and succeed again when the server is back. An AbortSignal rejects only its own call, with
 * the signal's reason, unchanged. A step that was already sent may still run. Bytes passed to a call must not change
 * until it settles.
 */
export function redisStore(client: string | RedisClient, options: RedisStoreOptions = {}): WatchedStore {
  if (typeof client === "string")
    throw new OrielError(
      "UNAVAILABLE",
      "redisStore opens no connection in this runtime: pass a client of ioredis or node-redis, or use httpStore",
    );
  return clientStore(client, options);
}
