import { Redis } from "ioredis";
import type { LockOptions } from "../../../src/entries/index.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { onSteppedClock } from "../../harness/clock/stepped-script.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";

/** A store and another process's store on the same data. */
export interface OpenStore {
  store: Store;
  other: Store;
  /** Where the store runs on a clock that tests step. */
  clock: { nowMs: number };
  /** Default options of everything that a suite creates. */
  modes?: LockOptions;
  /** When a key expires. Undefined where it is not there, or over by the clock. */
  expiryOf(key: string): Promise<number | undefined>;
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
    other: { ...store },
    clock,
    async expiryOf(key) {
      const entry = store.entryOf(key);
      return entry && entry.expireAtMs >= nowMs() ? entry.expireAtMs : undefined;
    },
    clear: async () => store.clear(),
    close: () => store.close(),
  };
}

/** On a clock that tests step, over one server. `raw` looks under its keys. */
export async function onRedis(): Promise<OpenStore & { raw: Redis }> {
  const server = await startRedis();
  const clients = [new Redis(server.url), new Redis(server.url)] as const;
  const [raw] = clients;
  const clock = { nowMs: START_MS };
  const options = { deadline: 5000, scriptOf: onSteppedClock(() => clock.nowMs), monotonic: () => clock.nowMs };
  const storeOn = (client: Redis) => redisStore(client as unknown as IoredisClient, options);
  const [store, other] = [storeOn(raw), storeOn(clients[1])];
  return {
    store,
    other,
    clock,
    raw,
    async expiryOf(key) {
      const expireAtMs = await raw.pexpiretime(key);
      if (expireAtMs === -2 || (expireAtMs >= 0 && expireAtMs < clock.nowMs)) return undefined;
      return expireAtMs < 0 ? Number.POSITIVE_INFINITY : expireAtMs;
    },
    clear: async () => void (await raw.flushall()),
    async close() {
      await Promise.all([store.close(), other.close()]);
      for (const each of clients) each.disconnect();
      await server.stop();
    },
  };
}
