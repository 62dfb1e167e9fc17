import { findValkey } from "../../scripts/find-programs.mjs";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { untilLinked } from "../harness/servers/replicas.ts";
import { clients, clusterClients } from "../store/contract/clients.ts";
import { overHttp } from "../store/contract/over-http.ts";
import { FaultyServers, type Servers } from "./server-faults.ts";

const onFirst =
  <Given>(connect: (url: string) => Given) =>
  (urls: readonly string[]) =>
    connect(urls[0]!);
const argsIn = (folder: string) => ["--enable-protected-configs", "yes", "--dir", folder];

const withReplica: Servers = {
  hasReplica: true,
  clients: {
    "ioredis 6": onFirst(clients["ioredis 6"]),
    "ioredis 5": onFirst(clients["ioredis 5"]),
    "node-redis 6": onFirst(clients["node-redis 6"]),
    HTTP: onFirst(overHttp),
  },
  async open(folder) {
    const primary = await startRedis({
      tcp: true,
      args: [...argsIn(folder), "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"],
    });
    const replica = await startRedis({ tcp: true, args: ["--replicaof", "127.0.0.1", String(primary.port)] });
    await untilLinked(replica);
    return { servers: [primary], stop: () => Promise.all([primary.stop(), replica.stop()]) };
  },
};

const cluster: Servers = {
  clients: {
    "cluster, ioredis 6": clusterClients["ioredis 6"],
    "cluster, node-redis 6": clusterClients["node-redis 6"],
  },
  async open() {
    const started = await startCluster(2);
    return { servers: started.nodes, cluster: started, stop: () => started.stop() };
  },
};

const valkey = (server: string): Servers => ({
  clients: { Valkey: onFirst(clients["ioredis 6"]) },
  async open(folder) {
    const started = await startRedis({ server, tcp: true, args: argsIn(folder) });
    return { servers: [started], stop: () => started.stop() };
  },
});

/** The sites of storms, one seed after the other. */
export function makeSites(): FaultyServers[] {
  const found = findValkey();
  return [withReplica, cluster, ...(found ? [valkey(found)] : [])].map((servers) => new FaultyServers(servers));
}
