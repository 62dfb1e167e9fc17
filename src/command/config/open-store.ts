import type { ConnectionOptions } from "node:tls";
import type { Clock, Duration } from "../../base/time.ts";
import { memoryStore, redisStore, type WatchedStore } from "../../entries/index.ts";
import { oneLine } from "../text/safe-text.ts";
import { checkRedis, clusterClient, isCluster, type ServerTyped } from "./redis-client.ts";

/** A warning of the library may quote the server. */
const warned = (text: string) => process.emitWarning(oneLine(text), "OrielWarning");

interface OpenOptions {
  clock?: Clock;
  onWarning?: (warning: string) => void;
  /** Whether its structures announce themselves in the registry, as those of a program do. Default false. */
  registry?: boolean;
  monotonic?: Clock;
  deadline?: Duration;
}

/** Opens the shared store if a URL or a cluster's URLs are given; otherwise the embedded store, on `clock`. */
export function openStore(
  { redis, prefix, tls }: ServerTyped,
  { clock, onWarning = warned, registry = false, monotonic, deadline }: OpenOptions = {},
): WatchedStore {
  if (redis === undefined) return memoryStore({ clock, registry, monotonic });
  const options = { prefix, onWarning, registry, monotonic, ...(deadline !== undefined && { deadline }) };
  checkRedis(redis);
  if (!isCluster(redis)) return redisStore(redis, { ...options, ...(tls && { tls }) });
  const client = clusterClient(redis, tls && { redisOptions: { tls: tls as ConnectionOptions } });
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
