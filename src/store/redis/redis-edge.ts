import { OrielError } from "../../errors.ts";
import type { WatchedStore } from "../contract.ts";
import { clientStore, type RedisClient, type RedisStoreOptions } from "./client-store.ts";

/**
 * A store in Redis 7 or later, or Valkey. The client that you pass stays open: ioredis 5 or 6 (single, Sentinel,
 * Cluster) or node-redis 5 (client, cluster; its pools and sentinels send again by themselves and are refused).
 * A URL throws UNAVAILABLE here: only Node's entry opens connections itself.
 *
 * Calls of one operation made in the same turn travel as one script call; each has its own result and error. Every
 * request settles within `deadline`. A server out of reach never throws here: calls reject with UNAVAILABLE, and succeed
 * again when it is back. An AbortSignal rejects its call, and no other, with the signal's reason, as it is; a step that
 * was already sent may still be run. Bytes given to a call must not change until it settles.
 */
export function redisStore(client: string | RedisClient, options: RedisStoreOptions = {}): WatchedStore {
  if (typeof client === "string")
    throw new OrielError(
      "UNAVAILABLE",
      "redisStore opens no connection in this runtime: pass a client of ioredis or node-redis, or use httpStore",
    );
  return clientStore(client, options);
}
