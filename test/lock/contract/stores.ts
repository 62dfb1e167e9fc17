import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { onSteppedClock } from "../../harness/clock/stepped-script.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { type Connected, clients, clusterClients, type HandedIn, storeOn } from "../../store/contract/clients.ts";
import { overHttp } from "../../store/contract/over-http.ts";

/** A store and another process's store on the same data, and what lies under their keys. */
export interface OpenStore {
  store: Store;
  other: Store;
  /** Where the store runs on a clock that tests step. */
  clock: { nowMs: number };
  /** As text; undefined where the key is not there, or over by the clock. */
  state(key: string): Promise<{ value: string; expireAtMs: number } | undefined>;
  put(key: string, value: string): Promise<void>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Ahead of any server's clock: 2100. */
const START_MS = Date.UTC(2100, 0, 1);

export async function onMemory(isStepped = false): Promise<OpenStore> {
  const clock = { nowMs: START_MS };
  const store = memoryStore(isStepped ? { clock: () => clock.nowMs } : {});
  const nowMs = () => (isStepped ? clock.nowMs : Date.now());
  return {
    store,
    other: store,
    clock,
    async state(key) {
      const entry = store.entryOf(key);
      if (!entry || entry.expireAtMs < nowMs()) return undefined;
      const value = entry.value as { token: string } | number | string;
      return { value: typeof value === "object" ? value.token : String(value), expireAtMs: entry.expireAtMs };
    },
    async put(key, token) {
      const operation = { name: "test/put", script: { text: "", sha: "" }, arity: 0, keyCount: 1, repeatable: true };
      const expireAtMs = Number.POSITIVE_INFINITY;
      await store.run<void, void>(
        {
          ...operation,
          encode: () => [],
          decode: () => {},
          local: (k) => k.set(key, { token, expireAtMs }, 9, expireAtMs),
        },
        key,
        undefined,
      );
    },
    clear: async () => store.clear(),
    close: () => store.close(),
  };
}

type RawClient = Pick<Redis, "get" | "set" | "pexpiretime" | "flushall" | "disconnect">;

const asItIs = (client: RawClient): HandedIn => ({ client: client as unknown as IoredisClient, end() {} });

/** `handIn`: the client that a store is given, where it is not the one that looks under its keys. */
function onRedis(
  open: (url: string) => RawClient,
  isCluster = false,
  options: RedisStoreOptions = {},
  handIn: (url: string, client: RawClient) => HandedIn | Promise<Connected> = (_url, client) => asItIs(client),
) {
  return async (isStepped = false): Promise<OpenStore> => {
    const server = isCluster ? await startCluster(2) : await startRedis();
    const raw = [open(server.url), open(server.url)] as const;
    const [client] = raw;
    const clock = { nowMs: START_MS };
    const stepped = { scriptOf: onSteppedClock(() => clock.nowMs), monotonic: () => clock.nowMs };
    const handedIn = await Promise.all(raw.map((each) => handIn(server.url, each)));
    const [store, other] = handedIn.map((each) =>
      storeOn(each, { deadline: 5000, ...options, ...(isStepped && stepped) }),
    ) as [Store, Store];
    return {
      store,
      other,
      clock,
      async state(key) {
        const value = await client.get(key);
        const expireAtMs = await client.pexpiretime(key);
        if (value === null || (isStepped && expireAtMs >= 0 && expireAtMs < clock.nowMs)) return undefined;
        return { value, expireAtMs: expireAtMs < 0 ? Number.POSITIVE_INFINITY : expireAtMs };
      },
      put: async (key, value) => void (await client.set(key, value)),
      async clear() {
        for (const node of client instanceof Cluster ? client.nodes("master") : [client]) await node.flushall();
      },
      async close() {
        await Promise.all([store.close(), other.close()]);
        for (const each of handedIn) await each.end();
        for (const each of raw) each.disconnect();
        await server.stop();
      },
    };
  };
}

/** Every store that the suite runs over. */
export const stores: Record<string, (isStepped?: boolean) => Promise<OpenStore>> = {
  memory: onMemory,
  "redis, ioredis 6": onRedis((url) => new Redis(url)),
  "redis, ioredis 6, functions": onRedis((url) => new Redis(url), false, { scripting: "functions" }),
  "redis, ioredis 5": onRedis((url) => new Redis5(url) as unknown as Redis),
  "redis, node-redis 6": onRedis(
    (url) => new Redis(url),
    false,
    {},
    (url) => clients["node-redis 6"](url),
  ),
  "redis over HTTP": onRedis((url) => new Redis(url), false, {}, overHttp),
  "redis cluster, node-redis 6": onRedis(
    (url) => new Cluster([url]) as unknown as Redis,
    true,
    {},
    (url) => clusterClients["node-redis 6"]([url]),
  ),
  "redis cluster, ioredis 6": onRedis((url) => new Cluster([url]) as unknown as Redis, true),
};
