import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient, createCluster } from "redis";
import * as redis5 from "redis5";
import type { Store } from "../../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import type { NodeRedisClient, NodeRedisCluster } from "../../../src/store/redis/node-redis-client.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";

/** A client as a user hands it in, connected or about to be. */
export interface HandedIn {
  client: IoredisClient | NodeRedisClient | NodeRedisCluster;
  end(): void;
}

/** What stands for a client where there is none. */
export interface Connected {
  storeOf(options: RedisStoreOptions): Store;
  end(): unknown;
}

export const connected = (given: HandedIn | Connected): Connected => ({
  storeOf: (options) => storeOn(given, options),
  end: () => given.end(),
});

export function storeOn(given: HandedIn | Connected, options: RedisStoreOptions): Store {
  return "client" in given ? redisStore(given.client, options) : given.storeOf(options);
}

function ioredis(client: IoredisClient): HandedIn {
  client.on("error", () => {});
  return { client, end: () => client.disconnect() };
}

const fast = { retryStrategy: () => 20 };

const optionsOf = (url: string) => {
  const socket = { reconnectStrategy: () => 20 };
  return url.startsWith("/") ? { socket: { path: url, ...socket } } : { url, socket };
};

function nodeRedis(client: NodeRedisClient | NodeRedisCluster): HandedIn {
  client.on("error", () => {});
  client.connect().catch(() => {});
  return { client, end: () => client.isOpen && (client as unknown as { destroy(): void }).destroy() };
}

export const clients = {
  "ioredis 6": (url: string) => ioredis(new Redis(url, fast)),
  "ioredis 5": (url: string) => ioredis(new Redis5(url, fast)),
  "node-redis 6": (url: string) => nodeRedis(createClient(optionsOf(url)) as NodeRedisClient),
  "node-redis 5": (url: string) => nodeRedis(redis5.createClient(optionsOf(url)) as unknown as NodeRedisClient),
};

export const clusterClients = {
  "ioredis 6": (urls: readonly string[]) =>
    ioredis(new Cluster([...urls], { clusterRetryStrategy: () => 20, slotsRefreshTimeout: 3000 })),
  "node-redis 6": (urls: readonly string[]) =>
    nodeRedis(createCluster({ rootNodes: urls.map((url) => ({ url })) }) as unknown as NodeRedisCluster),
  "node-redis 5": (urls: readonly string[]) =>
    nodeRedis(redis5.createCluster({ rootNodes: urls.map((url) => ({ url })) }) as unknown as NodeRedisCluster),
};
