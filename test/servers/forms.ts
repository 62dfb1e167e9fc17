import { Cluster, Redis } from "ioredis";
import { type FoundServer, findServers } from "../../scripts/servers/find.mjs";
import { oncePerFile } from "../harness/ends.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { startSentinel } from "../harness/servers/sentinel.ts";
import type { Servers } from "../matrix/servers.ts";
import { clients, clusterClients } from "../store/contract/clients.ts";

/** Running servers, or why they cannot run here. */
type Forms = Record<string, (() => Promise<Servers>) | { missing: string }>;

/** Each server alone; and the newest of each major version in a cluster, and under Sentinel. */
export function serverForms(): Forms {
  const found = findServers();
  const forms: Forms = {};
  for (const server of found) forms[server.name] = "path" in server ? single(server) : { missing: server.missing };
  for (const server of newestOfMajors(found.filter((each) => "path" in each))) {
    forms[`cluster, ${server.name}`] = cluster(server);
    forms[`Sentinel, ${server.name}`] = sentinel(server);
  }
  return forms;
}

function newestOfMajors(servers: readonly FoundServer[]): FoundServer[] {
  const newest = new Map<string, FoundServer>();
  for (const server of servers) newest.set(`${server.product} ${Number.parseInt(server.version, 10)}`, server);
  return [...newest.values()];
}

function single({ path }: FoundServer): () => Promise<Servers> {
  const start = oncePerFile(() => startRedis({ server: path }));
  return async () => {
    const { url } = await start();
    const raw = new Redis(url);
    return { raw, flush: () => raw.flushall(), connect: () => clients["ioredis 6"](url) };
  };
}

function cluster({ path }: FoundServer): () => Promise<Servers> {
  const start = oncePerFile(() => startCluster(2, 0, path));
  return async () => {
    const { urls, flush } = await start();
    const raw = new Cluster([...urls], { slotsRefreshTimeout: 3000 });
    return { raw, flush, connect: () => clusterClients["ioredis 6"](urls) };
  };
}

function sentinel({ path }: FoundServer): () => Promise<Servers> {
  const start = oncePerFile(() => startSentinel(1, path));
  return async () => {
    const { address } = await start();
    const connect = () => {
      const client = new Redis({ ...address, retryStrategy: () => 20 });
      client.on("error", () => {});
      return client;
    };
    const raw = connect();
    return {
      raw,
      flush: () => raw.flushall(),
      connect() {
        const client = connect();
        return { client, end: () => client.disconnect() };
      },
    };
  };
}
