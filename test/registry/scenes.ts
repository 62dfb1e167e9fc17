import { httpStore, Lock, memoryStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { ScriptStoreOptions } from "../../src/store/delivery/script-store.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { startRest } from "../harness/servers/rest-server.ts";

export const redis = oncePerFile(() => startRedis({ tcp: true }));
const cluster = oncePerFile(() => startCluster(2));
const rest = oncePerFile(async () => startRest((await redis()).url));

export interface Scene {
  clock: { nowMs: number };
  open(options?: ScriptStoreOptions): Promise<Store>;
}

/** Stores with a monotonic clock that the test steps. Stores of one scene share their data. */
export const SCENES: Record<string, () => Promise<Scene>> = {
  memory: async () => {
    const clock = { nowMs: 0 };
    const store = memoryStore({ monotonic: () => clock.nowMs });
    return { clock, open: async () => store };
  },
  redis: async () => {
    const { url } = await redis();
    const raw = new RespConnection(url);
    await raw.send([["FLUSHALL"]]);
    raw.close();
    return scene((options) => redisStore(url, options));
  },
  "a cluster": async () => {
    const { url } = await cluster();
    const { Cluster } = await import("ioredis");
    const client = new Cluster([url]);
    for (const node of client.nodes("master")) await node.flushall();
    atEnd(() => client.disconnect());
    return scene((options) => redisStore(client as never, options));
  },
  http: async () => {
    const { url, token } = await rest();
    const raw = new RespConnection((await redis()).url);
    await raw.send([["FLUSHALL"]]);
    raw.close();
    return scene((options) => httpStore({ url, token, ...options }));
  },
};

function scene(openStore: (options: ScriptStoreOptions) => Store): Scene {
  const clock = { nowMs: 0 };
  return {
    clock,
    async open(options = {}) {
      const store = openStore({ monotonic: () => clock.nowMs, ...options });
      atEnd(() => store.close());
      return store;
    },
  };
}

/** Makes a call on the store, and waits until the announcement that it carried has arrived. */
export async function call(store: Store): Promise<void> {
  await new Lock(store, "call").inspect();
  // A store in memory announces at most once a ms.
  await new Promise((resolve) => setTimeout(resolve, 2));
  await new Lock(store, "call").inspect();
}
