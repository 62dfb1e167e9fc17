import { memoryStore, redisStore, type Store } from "../index.ts";
import type { Clock } from "../time.ts";
import { clusterClient, isCluster } from "./redis-client.ts";

/** The shared store where a URL is given, or a cluster's URLs, and who is warned of it; else the embedded one, on `clock`. */
export function openStore(
  redis: string | undefined,
  prefix: string | undefined,
  { clock, onWarning }: { clock?: Clock; onWarning?: (warning: string) => void } = {},
): Store {
  if (redis === undefined) return memoryStore({ clock });
  const options = { prefix, onWarning };
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
