import { Cluster, Redis } from "ioredis";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { onSteppedClock } from "../../harness/clock/stepped-script.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { type Connected, storeOn } from "../../store/contract/clients.ts";

/** A store on a clock that tests step, a second one on the same data, and what lies under its keys. */
export interface OpenStore {
  store: Store;
  /** Another process's: a connection of its own where there are connections. */
  other: Store;
  clock: { nowMs: number };
  /** All keys that hold something, without those of the registry. */
  keys(): Promise<string[]>;
  bytesOf(key: string): Promise<Buffer | undefined>;
  /** Absolute, ms; Infinity where the key never expires. */
  expiryOf(key: string): Promise<number>;
  remove(key: string): Promise<void>;
  clear(): Promise<void>;
  close(): Promise<void>;
  /** Default options of everything that a suite creates. */
  modes?: object;
}

/** Ahead of any server's clock: 2100. */
export const START_MS = Date.UTC(2100, 0, 1);

export async function onMemory(): Promise<OpenStore> {
  const clock = { nowMs: START_MS };
  const store = memoryStore({ clock: () => clock.nowMs });
  const touched = new Set<string>();
  const watched: Store = {
    ...store,
    monotonic: store.monotonic,
    run(operation, key, input, options) {
      for (const each of operation.keysOf?.(key, input) ?? [key]) touched.add(each);
      return store.run(operation, key, input, options);
    },
  };
  const entryOf = (key: string) => {
    const entry = store.entryOf(key);
    return entry && entry.expireAtMs >= clock.nowMs ? entry : undefined;
  };
  const gone = { name: "test/remove", script: { text: "" }, arity: 0, keyCount: 1, repeatable: true };
  return {
    store: watched,
    other: watched,
    clock,
    keys: async () => [...touched].filter((key) => !key.includes("{registry}") && entryOf(key)),
    bytesOf: async (key) => {
      const value = entryOf(key)?.value as { bytes: Uint8Array } | undefined;
      return value && Buffer.from(value.bytes);
    },
    expiryOf: async (key) => entryOf(key)!.expireAtMs,
    remove: (key) =>
      store.run<void, void>(
        { ...gone, encode: () => [], decode: () => {}, local: (keys) => keys.delete(key) },
        key,
        undefined,
      ),
    clear: async () => {
      touched.clear();
      store.clear();
    },
    close: () => store.close(),
  };
}

/** Clients of two processes, and the servers behind them. */
interface Servers {
  clients: (Redis | Cluster)[];
  /** Options of the stores, other than these clients. */
  connected?: Connected[];
  flush(): Promise<unknown>;
  stop(): Promise<void>;
}

function onServers(start: () => Promise<Servers>, options: RedisStoreOptions = {}): () => Promise<OpenStore> {
  return async () => {
    const { clients, connected, flush, stop } = await start();
    const client = clients[0]!;
    const nodes = () => (client instanceof Cluster ? client.nodes("master") : [client]);
    const clock = { nowMs: START_MS };
    const now = () => clock.nowMs;
    const given = connected ?? clients.map((each) => ({ client: each as unknown as IoredisClient, end() {} }));
    const [store, other] = given.map((each) =>
      storeOn(each, {
        scriptOf: onSteppedClock(now),
        monotonic: now,
        ...options,
      }),
    );
    // A server expires keys by its own clock. A key that is over by the test's clock counts as expired.
    const isThere = async (key: string) => {
      const expiryMs = await client.pexpiretime(key);
      return expiryMs === -1 || expiryMs >= clock.nowMs;
    };
    return {
      store: store!,
      other: other!,
      clock,
      async keys() {
        const keys = (await Promise.all(nodes().map((node) => node.keys("*")))).flat().sort();
        const there = await Promise.all(keys.map(isThere));
        return keys.filter((key, i) => !key.includes("{registry}") && there[i]);
      },
      bytesOf: async (key) => ((await isThere(key)) ? ((await client.getBuffer(key)) ?? undefined) : undefined),
      expiryOf: async (key) => {
        const expiryMs = await client.pexpiretime(key);
        return expiryMs === -1 ? Number.POSITIVE_INFINITY : expiryMs;
      },
      remove: async (key) => void (await client.del(key)),
      clear: async () => void (await flush()),
      async close() {
        await Promise.all([store!.close(), other!.close()]);
        for (const each of given) await each.end();
        for (const each of clients) each.disconnect();
        await stop();
      },
    };
  };
}

function onRedis(connect: (url: string) => Redis, options?: RedisStoreOptions): () => Promise<OpenStore> {
  return onServers(async () => {
    const { url, stop } = await startRedis();
    const clients = [connect(url), connect(url)];
    return { clients, flush: () => clients[0]!.flushall(), stop };
  }, options);
}

export const onRedis6 = onRedis((url) => new Redis(url));
