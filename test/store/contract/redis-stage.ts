import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Store } from "../../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

export const input = (text: string) => ({ bytes: Buffer.from(text), maxBytes: 1e9, lifetimeMs: 0 });

/** A server of the test file's own, emptied before each test; stores opened through it are closed after each. */
export class RedisStage {
  server!: RedisServer;
  raw!: Redis;
  readonly #stores: Store[] = [];

  constructor() {
    beforeAll(async () => {
      this.server = await startRedis({ tcp: true });
      this.raw = new Redis(this.server.url);
    });
    beforeEach(async () => {
      await this.raw.flushall();
      await this.raw.config("RESETSTAT");
    });
    afterEach(() => Promise.all(this.#stores.splice(0).map((store) => store.close())));
    afterAll(async () => {
      this.raw?.disconnect();
      await this.server?.stop();
    });
  }

  open(options: RedisStoreOptions = {}, url = this.server.url): Store {
    const store = redisStore(url, options);
    this.#stores.push(store);
    return store;
  }

  async callsOf(command: string): Promise<number> {
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await this.raw.info("commandstats"))?.[1] ?? 0);
  }
}
