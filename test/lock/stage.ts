import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { Lock } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../src/store/redis/client-store.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

/** A server of the test file's own, emptied before each test, and a proxy before it; stores are closed after each. */
export class LockStage {
  server!: RedisServer;
  raw!: Redis;
  proxy!: FaultProxy;
  readonly #stores: Store[] = [];

  constructor() {
    beforeAll(async () => {
      this.server = await startRedis({ tcp: true });
      this.raw = new Redis(this.server.url);
    });
    beforeEach(async () => {
      await this.raw.flushall();
      this.proxy = await startProxy(this.server.port);
    });
    afterEach(async () => {
      await Promise.all(this.#stores.splice(0).map((store) => store.close()));
      await this.proxy.close();
    });
    afterAll(async () => {
      this.raw?.disconnect();
      await this.server?.stop();
    });
  }

  /** Of the lock that was made last. */
  get lastStore(): Store {
    return this.#stores.at(-1)!;
  }

  /** A lock of a process of its own, straight at the server. */
  lock(options: RedisStoreOptions = {}, url = this.server.url): Lock {
    // Commands are counted, so the store announces nothing.
    const store = redisStore(url, { deadline: 3000, registry: false, ...options });
    this.#stores.push(store);
    return new Lock(store, "nightly");
  }

  /** The same, behind the proxy; its scripts are loaded, however short its deadline on a busy machine. */
  async proxied(options: RedisStoreOptions = {}): Promise<Lock> {
    const lock = this.lock(options, this.proxy.url);
    const held = await lock.tryLock({ wait: "4m", lease: "10m" });
    for (const step of [() => held!.extend(), () => held!.release()])
      await until("the script is loaded", async () => [true, false].includes(await step()));
    return lock;
  }

  /** Processes that listen for their turn. */
  async listeners(): Promise<number> {
    return (await this.raw.pubsub("CHANNELS", `${LOCK_KEY}:*`)).length;
  }

  /** Script calls that the server has seen. */
  async scripts(): Promise<number> {
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await this.raw.info("commandstats"))?.[1] ?? 0);
  }
}

export const LOCK_KEY = "oriel:{nightly}:lock";
