import { Cluster, Redis } from "ioredis";
import { findValkey } from "../../scripts/find-programs.mjs";
import { oncePerFile } from "../harness/ends.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { startReplicated } from "../harness/servers/replicas.ts";
import { serverForms } from "../servers/forms.ts";
import { type Connected, clients, clusterClients, type HandedIn } from "../store/contract/clients.ts";
import { overHttp } from "../store/contract/over-http.ts";

/** Running servers, and how a store connects to them. */
export interface Servers {
  raw: Redis | Cluster;
  flush(): Promise<unknown>;
  /** The options that each store of another process receives. */
  connect(): HandedIn | Promise<Connected>;
}

/** With a replica, so that a step can wait for it. */
const redis = oncePerFile(async () => {
  const { primary, stop } = await startReplicated(1);
  return { url: primary.url, stop };
});
const cluster = oncePerFile(() => startCluster(2, 1));
const valkey = oncePerFile(() => startRedis({ server: findValkey()! }));

const onRedis =
  (connect: (url: string) => HandedIn | Promise<Connected>, server: () => Promise<{ url: string }> = redis) =>
  async (): Promise<Servers> => {
    const { url } = await server();
    const raw = new Redis(url);
    return { raw, flush: () => raw.flushall(), connect: () => connect(url) };
  };

const onCluster = (connect: (urls: readonly string[]) => HandedIn) => async (): Promise<Servers> => {
  const { urls, flush } = await cluster();
  const raw = new Cluster([...urls], { slotsRefreshTimeout: 3000 });
  return { raw, flush, connect: () => connect(urls) };
};

/** Every server with every client. A text says why one is unavailable here. */
const all: Record<string, (() => Promise<Servers>) | "memory" | { missing: string }> = {
  memory: "memory",
  "ioredis 6": onRedis(clients["ioredis 6"]),
  "ioredis 5": onRedis(clients["ioredis 5"]),
  "node-redis 6": onRedis(clients["node-redis 6"]),
  "node-redis 5": onRedis(clients["node-redis 5"]),
  "cluster, ioredis 6": onCluster(clusterClients["ioredis 6"]),
  "cluster, node-redis 6": onCluster(clusterClients["node-redis 6"]),
  HTTP: onRedis(overHttp),
  Valkey: findValkey()
    ? onRedis(clients["ioredis 6"], valkey)
    : { missing: "no valkey-server; ORIEL_VALKEY_SERVER names one" },
};

/** `npm run test:all -- forms` runs the suites over each server in each form instead. */
export const servers: typeof all =
  process.env.ORIEL_STORES === "servers" ? { memory: "memory", ...serverForms() } : all;

/** Stores that can also send steps as functions. The REST protocol has scripts only. */
export const withFunctions = (store: string) => store !== "memory" && store !== "HTTP";
export const withReplicas = (store: string) => store.includes("redis");
