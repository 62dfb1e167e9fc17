import { fileURLToPath } from "node:url";
import { Cluster, Redis } from "ioredis";
import { afterAll } from "vitest";
import type { RedisStoreOptions } from "../../src/store/client-store.ts";
import type { Store } from "../../src/store/contract.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { redisStore } from "../../src/store/redis.ts";
import { startCluster } from "../harness/redis-cluster.ts";
import { findServer, startRedis } from "../harness/redis-server.ts";
import { startSentinel } from "../harness/sentinel.ts";
import { onSteppedClock } from "../harness/stepped-script.ts";
import { clients, clusterClients, type HandedIn } from "./clients.ts";
import { files } from "./ops/operations.ts";

/** A store on a clock that tests step, and what lies under its keys. */
export interface OpenStore {
  store: Store;
  clock: { nowMs: number };
  state(key: string): Promise<{ bytes: Buffer; expireAtMs: number } | undefined>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Ahead of any server's clock: 2100. */
const START_MS = Date.UTC(2100, 0, 1);

/** What a store's client is connected to, and a client of the tests' own to look under its keys. */
interface Servers {
  handedIn: HandedIn;
  raw: Redis | Cluster;
  flush(): Promise<unknown>;
  stop(): Promise<void>;
}

function onServers(start: () => Promise<Servers>, options: RedisStoreOptions = {}) {
  return async (): Promise<OpenStore> => {
    const { handedIn, raw, flush, stop } = await start();
    const clock = { nowMs: START_MS };
    const store = redisStore(handedIn.client, {
      scriptOf: onSteppedClock(() => clock.nowMs, files),
      deadlineMs: 5000,
      ...options,
    });
    return {
      store,
      clock,
      async state(key) {
        const bytes = await raw.getBuffer(key);
        const expireAtMs = await raw.pexpiretime(key);
        // A server expires by its own clock: what is over by the test's is as good as gone.
        if (!bytes || (expireAtMs >= 0 && expireAtMs < clock.nowMs)) return undefined;
        return { bytes, expireAtMs: expireAtMs < 0 ? Number.POSITIVE_INFINITY : expireAtMs };
      },
      async clear() {
        await flush();
      },
      async close() {
        await store.close();
        handedIn.end();
        raw.disconnect();
        await stop();
      },
    };
  };
}

const onRedis = (connect: (url: string) => HandedIn, options?: RedisStoreOptions) =>
  onServers(async () => {
    const server = await startRedis();
    const raw = new Redis(server.url);
    return { handedIn: connect(server.url), raw, flush: () => raw.flushall(), stop: () => server.stop() };
  }, options);

const onCluster = (connect: (urls: readonly string[]) => HandedIn, options?: RedisStoreOptions) =>
  onServers(async () => {
    const { urls, flush } = await shared.cluster();
    return { handedIn: connect(urls), raw: new Cluster([...urls]), flush, stop: async () => {} };
  }, options);

const onSentinel = onServers(async () => {
  const { address } = await shared.sentinel();
  const [client, raw] = [new Redis(address), new Redis(address)];
  const handedIn = { client, end: () => client.disconnect() };
  return { handedIn, raw, flush: () => raw.flushall(), stop: async () => {} };
});

const onValkey = (server: string) =>
  onServers(async () => {
    const valkey = await startRedis({ server });
    const raw = new Redis(valkey.url);
    const handedIn = clients["ioredis 6"](valkey.url);
    return { handedIn, raw, flush: () => raw.flushall(), stop: () => valkey.stop() };
  });

/** What takes seconds to start is started once per test file, when it is first wanted. */
const started: Promise<{ stop(): Promise<void> }>[] = [];
function once<T extends { stop(): Promise<void> }>(start: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    if (!running) {
      running = start();
      started.push(running);
    }
    return running;
  };
}
const shared = { cluster: once(() => startCluster(3, 1)), sentinel: once(() => startSentinel(1)) };
afterAll(async () => {
  for (const each of started.splice(0)) await (await each).stop();
});

async function onMemory(): Promise<OpenStore> {
  const clock = { nowMs: START_MS };
  const options = { clock: () => clock.nowMs };
  const store = memoryStore(options);
  return {
    store,
    clock,
    async state(key) {
      const entry = store.entryOf(key);
      if (!entry || entry.expireAtMs < clock.nowMs) return undefined;
      return { bytes: Buffer.from(entry.value as Uint8Array), expireAtMs: entry.expireAtMs };
    },
    clear: async () => store.clear(),
    close: () => store.close(),
  };
}

/** A Valkey beside the Redis: ORIEL_VALKEY_SERVER, else valkey-server on PATH, else what `npm test` unpacked. */
const unpacked = fileURLToPath(new URL("../../node_modules/.oriel/valkey/usr/bin/valkey-server", import.meta.url));
const named = process.env.ORIEL_VALKEY_SERVER;
const valkey = findServer(named ? [named] : ["valkey-server", unpacked]);

/** Every store that the suites run over; a text instead says why one cannot be had here. */
export const allStores: Record<string, (() => Promise<OpenStore>) | string> = {
  memory: onMemory,
  "redis, ioredis 6": onRedis(clients["ioredis 6"]),
  "redis, ioredis 5": onRedis(clients["ioredis 5"]),
  "redis, node-redis 5": onRedis(clients["node-redis 5"]),
  "redis, ioredis 6, functions": onRedis(clients["ioredis 6"], { scripting: "functions" }),
  "redis, node-redis 5, functions": onRedis(clients["node-redis 5"], { scripting: "functions" }),
  "redis sentinel, ioredis 6": onSentinel,
  "redis cluster, ioredis 6": onCluster(clusterClients["ioredis 6"]),
  "redis cluster, node-redis 5": onCluster(clusterClients["node-redis 5"]),
  "redis cluster, ioredis 6, functions": onCluster(clusterClients["ioredis 6"], { scripting: "functions" }),
  "redis cluster, node-redis 5, functions": onCluster(clusterClients["node-redis 5"], { scripting: "functions" }),
  "valkey, ioredis 6": valkey
    ? onValkey(valkey)
    : "no valkey-server on PATH (Debian 13: valkey-server; Debian 12: the same from bookworm-backports); name one in ORIEL_VALKEY_SERVER",
};

export const stores = Object.fromEntries(
  Object.entries(allStores).filter(
    (entry): entry is [string, () => Promise<OpenStore>] => typeof entry[1] !== "string",
  ),
);
