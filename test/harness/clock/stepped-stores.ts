import { Cluster, Redis } from "ioredis";
import { expect } from "vitest";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { ScriptStoreOptions } from "../../../src/store/delivery/script-store.ts";
import { httpStore } from "../../../src/store/http/http.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { startCluster } from "../servers/redis-cluster.ts";
import { startRedis } from "../servers/redis-server.ts";
import { startRest } from "../servers/rest-server.ts";
import { onSteppedClock } from "./stepped-script.ts";

/** Ahead of any server's clock: 2100, at the beginning of a day. */
export const START_MS = Date.UTC(2100, 0, 1);

/** A store on a clock that tests step. */
export interface OpenStore {
  store: Store;
  clock: { nowMs: number };
  /**
   * Keys that are there by the clock, and when they expire. Without those of the registry, in which structures announce themselves
   * by the machine's time.
   */
  expiries(): Promise<Map<string, number>>;
  clear(): Promise<void>;
  close(): Promise<void>;
  /** The client, where there is a server. */
  client?: Redis | Cluster;
  /** Default options of everything that a suite creates. */
  modes?: object;
}

export const isOfStructure = (key: string): boolean => !key.includes("{registry}");

/** One call on a store. */
export type Call = (store: Store, nowMs: number) => Promise<unknown>;

/** Plays calls on empty stores, each some ms after the one before. Every store must answer as the first one does. */
export async function playAlike(stores: readonly OpenStore[], calls: readonly [goneMs: number, Call][]): Promise<void> {
  let nowMs = START_MS;
  for (const each of stores) await each.clear();
  for (const [goneMs, call] of calls) {
    nowMs += goneMs;
    for (const { clock } of stores) clock.nowMs = nowMs;
    const [first, ...others] = await Promise.all(stores.map(({ store }) => call(store, nowMs)));
    for (const other of others) expect(other).toEqual(first);
  }
}

/** The keys of every store expire when those of the first one do. */
export async function expectAlikeExpiries(stores: readonly OpenStore[]): Promise<void> {
  const [first, ...others] = await Promise.all(stores.map((each) => each.expiries()));
  for (const other of others) expect([...other.values()]).toEqual([...first!.values()]);
}

export async function onMemory(): Promise<OpenStore> {
  const clock = { nowMs: START_MS };
  const store = memoryStore({ clock: () => clock.nowMs });
  const keys = new Set<string>();
  const watched: Store = {
    ...store,
    run(operation, key, input, options) {
      for (const each of operation.keysOf?.(key, input) ?? [key]) keys.add(each);
      return store.run(operation, key, input, options);
    },
  };
  return {
    store: watched,
    clock,
    async expiries() {
      const found = [...keys].filter(isOfStructure).map((key) => [key, store.entryOf(key)?.expireAtMs ?? 0] as const);
      return new Map(found.filter(([, expireAtMs]) => expireAtMs >= clock.nowMs));
    },
    clear: async () => store.clear(),
    close: () => store.close(),
  };
}

export function onRedis(isCluster = false, own: ScriptStoreOptions = {}): Promise<OpenStore> {
  return onServers(isCluster, async (_url, client, options) => {
    const store = redisStore(client as unknown as IoredisClient, { ...options, ...own });
    return { store, stop: async () => {} };
  });
}

/** The same data over REST. */
export function onHttp(): Promise<OpenStore> {
  return onServers(false, async (redisUrl, _client, options) => {
    const { url, token, stop } = await startRest(redisUrl);
    return { store: httpStore({ url, token, ...options }), stop };
  });
}

async function onServers(
  isCluster: boolean,
  open: (
    url: string,
    client: Redis | Cluster,
    options: ScriptStoreOptions,
  ) => Promise<{ store: Store; stop(): Promise<void> }>,
): Promise<OpenStore> {
  const server = isCluster ? await startCluster(2) : await startRedis();
  const client = isCluster ? new Cluster([server.url]) : new Redis(server.url);
  const nodes = () => (client instanceof Cluster ? client.nodes("master") : [client]);
  const clock = { nowMs: START_MS };
  const { store, stop } = await open(server.url, client, {
    scriptOf: onSteppedClock(() => clock.nowMs),
    monotonic: () => clock.nowMs,
  });
  return {
    store,
    clock,
    client,
    async expiries() {
      const found = new Map<string, number>();
      for (const node of nodes())
        for (const key of (await node.keys("*")).filter(isOfStructure)) {
          const expireAtMs = await node.pexpiretime(key);
          if (expireAtMs >= clock.nowMs || expireAtMs < 0) found.set(key, expireAtMs);
        }
      return found;
    },
    async clear() {
      for (const node of nodes()) await node.flushall();
    },
    async close() {
      await store.close();
      await stop();
      client.disconnect();
      await server.stop();
    },
  };
}
