import { memoryStore, redisStore, type Store } from "../index.ts";
import type { Clock } from "../time.ts";
import { clusterClient, isCluster } from "./redis-client.ts";

/** The shared store where a URL is given, or a cluster's URLs; else the embedded one, on `clock` if given. */
export function openStore(redis: string | undefined, prefix: string | undefined, clock?: Clock): Store {
  if (redis === undefined) return memoryStore(clock === undefined ? {} : { clock });
  const options = prefix === undefined ? {} : { prefix };
  if (!isCluster(redis)) return redisStore(redis, options);
  const client = clusterClient(redis);
  const store = redisStore(client, options);
  return {
    ...store,
    async close() {
      await store.close();
      client.disconnect();
    },
  };
}
