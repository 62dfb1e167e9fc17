import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { DelayQueue, type DelayQueueOptions, type Job, type WorkerOptions } from "../../src/index.ts";
import { redisStore } from "../../src/store/redis.ts";
import { type FaultProxy, startProxy } from "../harness/proxy.ts";
import { type RedisServer, startRedis } from "../harness/redis-server.ts";

/** A server of the test file's own, emptied before each test, and a proxy before it; workers and stores end after each. */
export class Live {
  server!: RedisServer;
  raw!: Redis;
  proxy!: FaultProxy;
  readonly #ends: (() => Promise<unknown>)[] = [];

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
      for (const end of this.#ends.splice(0).reverse()) await end();
      await this.proxy.close();
    });
    afterAll(async () => {
      this.raw?.disconnect();
      await this.server?.stop();
    });
  }

  /** Ends with the test, before what was begun earlier. */
  onEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  /** The queue as another process has it. */
  queue(url = this.server.url, options: DelayQueueOptions = {}, deadlineMs = 3000): DelayQueue<unknown> {
    const store = redisStore(url, { deadlineMs });
    this.onEnd(() => store.close());
    return new DelayQueue(store, "mail", options);
  }

  work(queue: DelayQueue<unknown>, handler: (job: Job<unknown>) => unknown, options: WorkerOptions = {}) {
    const worker = queue.process(handler, options);
    this.onEnd(() => worker.close());
    return worker;
  }

  /** Commands that the server was given so far, what scripts call and this question aside. */
  async commands(): Promise<number> {
    const text = await this.raw.info("commandstats");
    const calls = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
    return ["evalsha", "eval", "subscribe", "script\\|load", "fcall", "wait", "ping"].reduce(
      (sum, name) => sum + calls(name),
      0,
    );
  }
}
