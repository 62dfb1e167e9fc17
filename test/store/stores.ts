import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import type { Store } from "../../src/store/contract.ts";
import type { IoredisClient } from "../../src/store/ioredis.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { redisStore } from "../../src/store/redis.ts";
import { startCluster } from "../harness/redis-cluster.ts";
import { startRedis } from "../harness/redis-server.ts";
import { onSteppedClock } from "../harness/stepped-script.ts";
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

type RawClient = Pick<Redis, "getBuffer" | "pexpiretime" | "flushall" | "disconnect">;

function onRedis(open: (url: string) => RawClient, isCluster = false) {
  return async (): Promise<OpenStore> => {
    const server = isCluster ? await startCluster(2) : await startRedis();
    const client = open(server.url);
    const clock = { nowMs: START_MS };
    const store = redisStore(client as unknown as IoredisClient, {
      scriptOf: onSteppedClock(() => clock.nowMs, files),
      deadlineMs: 5000,
    });
    return {
      store,
      clock,
      async state(key) {
        const bytes = await client.getBuffer(key);
        const expireAtMs = await client.pexpiretime(key);
        // A server expires by its own clock: what is over by the test's is as good as gone.
        if (!bytes || (expireAtMs >= 0 && expireAtMs < clock.nowMs)) return undefined;
        return { bytes, expireAtMs: expireAtMs < 0 ? Number.POSITIVE_INFINITY : expireAtMs };
      },
      async clear() {
        for (const node of client instanceof Cluster ? client.nodes("master") : [client]) await node.flushall();
      },
      async close() {
        await store.close();
        client.disconnect();
        await server.stop();
      },
    };
  };
}

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

/** Every store that the suites run over. */
export const stores: Record<string, () => Promise<OpenStore>> = {
  memory: onMemory,
  "redis, ioredis 6": onRedis((url) => new Redis(url)),
  "redis, ioredis 5": onRedis((url) => new Redis5(url) as unknown as Redis),
  "redis cluster, ioredis 6": onRedis((url) => new Cluster([url]) as unknown as Redis, true),
};
