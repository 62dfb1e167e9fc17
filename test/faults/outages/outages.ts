import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRest } from "../../harness/servers/rest-server.ts";

/** Servers that work, and how their outage begins and ends. */
export interface Outage {
  /** Of every primary; none where only HTTP leads to it. */
  urls: readonly string[];
  http?: { url: string; token: string };
  begin(): Promise<unknown> | unknown;
  end(): Promise<unknown> | unknown;
  stop(): Promise<unknown>;
}

/** One server is killed and started again empty. */
export async function serverKilled(): Promise<Outage> {
  let server = await startRedis({ tcp: true });
  const { port, url } = server;
  return {
    urls: [url],
    begin: () => server.kill(),
    end: async () => {
      server = await startRedis({ tcp: port });
    },
    stop: () => server.stop(),
  };
}

/** One server stands still. */
export async function serverFrozen(): Promise<Outage> {
  const server = await startRedis({ tcp: true });
  return {
    urls: [server.url],
    begin: () => server.pause(),
    end: () => server.resume(),
    stop: () => server.stop(),
  };
}

/** All nodes of a cluster of three stand still. */
export async function clusterFrozen(): Promise<Outage> {
  const cluster = await startCluster(3);
  return {
    urls: [...cluster.urls],
    begin: () => cluster.nodes.map((node) => node.pause()),
    end: () => cluster.nodes.map((node) => node.resume()),
    stop: () => cluster.stop(),
  };
}

/** The port of an HTTP server before a Redis refuses connections. */
export async function httpRefused(): Promise<Outage> {
  const server = await startRedis();
  // Below the ports that the system gives out by itself, so that nobody takes it meanwhile.
  const port = 20_000 + (process.pid % 10_000);
  let rest = await startRest(server.url, "rest-token", port);
  const { url, token } = rest;
  return {
    urls: [],
    http: { url, token },
    begin: () => rest.stop(),
    end: async () => {
      rest = await startRest(server.url, token, port);
    },
    stop: async () => {
      await rest.stop();
      await server.stop();
    },
  };
}
