import { Redis } from "ioredis";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { type Connected, connected, type HandedIn } from "./clients.ts";
import { type OpenStore, onServers, START_MS } from "./on-servers.ts";

export const onRedis = (connect: (url: string) => HandedIn | Promise<Connected>, options?: RedisStoreOptions) =>
  onServers(async () => {
    const server = await startRedis();
    const raw = new Redis(server.url);
    return { ...connected(await connect(server.url)), raw, flush: () => raw.flushall(), stop: () => server.stop() };
  }, options);

export async function onMemory(): Promise<OpenStore> {
  const clock = { nowMs: START_MS };
  const options = { clock: () => clock.nowMs };
  const store = memoryStore(options);
  return {
    store,
    clock,
    async state(key) {
      const entry = store.entryOf(key);
      if (!entry || entry.expireAtMs < clock.nowMs) return undefined;
      return { bytes: new Uint8Array(entry.value as Uint8Array), expireAtMs: entry.expireAtMs };
    },
    clear: async () => store.clear(),
    close: () => store.close(),
  };
}
