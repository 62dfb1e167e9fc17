import { memoryStore, redisStore, type WatchedStore } from "../entries/index.ts";
import type { Clock } from "../time.ts";
import { checkRedis, clusterClient, isCluster } from "./redis-client.ts";

/** Opens the shared store if a URL or a cluster's URLs are given; otherwise the embedded store, on `clock`. */
export function openStore(
  redis: string | undefined,
  prefix: string | undefined,
  { clock, onWarning }: { clock?: Clock; onWarning?: (warning: string) => void } = {},
): WatchedStore {
  if (redis === undefined) return memoryStore({ clock });
  const options = { prefix, onWarning };
  checkRedis(redis);
  if (!isCluster(redis)) return redisStore(redis, options);
  const client = clusterClient(redis);
  const store = redisStore(client, options);
  const { close } = store;
  // Not a copy of the object: its health is read at each query.
  return Object.assign(store, {
    async close() {
      await close();
      client.disconnect();
    },
  });
}
