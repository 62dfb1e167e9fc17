import { Cluster, Redis } from "ioredis";
import { findValkey } from "../../../scripts/find-programs.mjs";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import { oncePerFile } from "../../harness/ends.ts";
import { isWanted } from "../../harness/rows.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startSentinel } from "../../harness/servers/sentinel.ts";
import { clients, clusterClients, connected, type HandedIn } from "./clients.ts";
import { onMemory, onRedis } from "./on-one.ts";
import { type OpenStore, onServers } from "./on-servers.ts";
import { overHttp } from "./over-http.ts";

const onCluster = (connect: (urls: readonly string[]) => HandedIn, options?: RedisStoreOptions) =>
  onServers(async () => {
    const { urls, flush } = await shared.cluster();
    return { ...connected(connect(urls)), raw: new Cluster([...urls]), flush, stop: async () => {} };
  }, options);

const onSentinel = onServers(async () => {
  const { address } = await shared.sentinel();
  const [client, raw] = [new Redis(address), new Redis(address)];
  return {
    ...connected({ client, end: () => client.disconnect() }),
    raw,
    flush: () => raw.flushall(),
    stop: async () => {},
  };
});

const onValkey = (server: string) =>
  onServers(async () => {
    const valkey = await startRedis({ server });
    const raw = new Redis(valkey.url);
    return {
      ...connected(clients["ioredis 6"](valkey.url)),
      raw,
      flush: () => raw.flushall(),
      stop: () => valkey.stop(),
    };
  });

/** What takes seconds to start. */
const shared = { cluster: oncePerFile(() => startCluster(3, 1)), sentinel: oncePerFile(() => startSentinel(1)) };

/** A Valkey beside the Redis. */
const valkey = findValkey();

/** Every store that the suites run over; a text instead says why one cannot be had here. */
const every: Record<string, (() => Promise<OpenStore>) | string> = {
  memory: onMemory,
  "redis, ioredis 6": onRedis(clients["ioredis 6"]),
  "redis, ioredis 5": onRedis(clients["ioredis 5"]),
  "redis, node-redis 6": onRedis(clients["node-redis 6"]),
  "redis, node-redis 5": onRedis(clients["node-redis 5"]),
  "redis, ioredis 6, functions": onRedis(clients["ioredis 6"], { scripting: "functions" }),
  "redis, node-redis 6, functions": onRedis(clients["node-redis 6"], { scripting: "functions" }),
  "redis sentinel, ioredis 6": onSentinel,
  "redis cluster, ioredis 6": onCluster(clusterClients["ioredis 6"]),
  "redis cluster, node-redis 6": onCluster(clusterClients["node-redis 6"]),
  "redis cluster, node-redis 5": onCluster(clusterClients["node-redis 5"]),
  "redis cluster, ioredis 6, functions": onCluster(clusterClients["ioredis 6"], { scripting: "functions" }),
  "redis cluster, node-redis 6, functions": onCluster(clusterClients["node-redis 6"], { scripting: "functions" }),
  "redis over HTTP": onRedis(overHttp),
  "valkey, ioredis 6": valkey
    ? onValkey(valkey)
    : "no valkey-server found; `npm run test:all` unpacks Debian's, ORIEL_VALKEY_SERVER names one",
};
const names = Object.keys(every).filter(isWanted);
export const allStores = Object.fromEntries(names.map((name) => [name, every[name]!]));

export const stores = Object.fromEntries(
  Object.entries(allStores).filter(
    (entry): entry is [string, () => Promise<OpenStore>] => typeof entry[1] !== "string",
  ),
);
