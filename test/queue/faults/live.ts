import { Cluster, Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { DelayQueue, type DelayQueueOptions, type Job, type WorkerOptions } from "../../../src/entries/index.ts";
import type { ScriptOf } from "../../../src/store/delivery/delivery.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

/** Of a cluster: on both of its nodes, for the names of these tests. */
const SHARDS = 4;
const NODES = 2;

interface QueueOptions extends DelayQueueOptions {
  /** Through the proxies. */
  isProxied?: boolean;
  deadline?: number;
  scriptOf?: ScriptOf;
}

/** A server or cluster of the test file, emptied before each test, with a proxy before each node. Each test closes what it opened. */
export class Live {
  readonly shards: number;
  servers: readonly RedisServer[] = [];
  raws: readonly Redis[] = [];
  proxies: readonly FaultProxy[] = [];
  readonly #isCluster: boolean;
  readonly #ends: (() => unknown)[] = [];
  #stop: () => Promise<unknown> = async () => {};

  constructor(kind: "server" | "cluster") {
    this.#isCluster = kind === "cluster";
    this.shards = this.#isCluster ? SHARDS : 1;
    beforeAll(async () => {
      const { nodes, stop } = this.#isCluster ? await startCluster(NODES) : await alone();
      this.servers = nodes;
      this.#stop = stop;
      this.raws = nodes.map(({ url }) => new Redis(url));
    });
    beforeEach(async () => {
      for (const raw of this.raws) await raw.flushall();
      this.proxies = await Promise.all(this.servers.map(({ port }) => startProxy(port)));
    });
    afterEach(async () => {
      for (const end of this.#ends.splice(0).reverse()) await end();
      for (const proxy of this.proxies) await proxy.close();
    });
    afterAll(async () => {
      for (const raw of this.raws) raw.disconnect();
      await this.#stop();
    });
  }

  /** Where a process of its own finds them; its second argument says whether that is a cluster. */
  get address(): [url: string, isCluster: string] {
    return [this.servers[0]!.url, this.#isCluster ? "cluster" : ""];
  }

  /** The queue as another process has it. */
  queue({ isProxied = false, deadline = 3000, scriptOf, ...options }: QueueOptions = {}): DelayQueue<unknown> {
    const store = redisStore(this.#isCluster ? this.#client(isProxied) : this.#urlOf(0, isProxied), {
      deadline,
      scriptOf,
    });
    this.#ends.push(() => store.close());
    return new DelayQueue(store, "mail", { shards: this.shards, ...options });
  }

  work(queue: DelayQueue<unknown>, handler: (job: Job<unknown>) => unknown, options: WorkerOptions = {}) {
    const worker = queue.process(handler, options);
    this.#ends.push(() => worker.close());
    return worker;
  }

  /** Commands that the servers were given so far, what scripts call and this question aside. */
  async commands(): Promise<number> {
    const texts = await Promise.all(this.raws.map((raw) => raw.info("commandstats")));
    const calls = (name: string) =>
      texts.reduce((sum, text) => sum + Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(text)?.[1] ?? 0), 0);
    return ["evalsha", "eval", "subscribe", "script\\|load", "fcall", "wait", "ping"].reduce(
      (sum, name) => sum + calls(name),
      0,
    );
  }

  /** Of each shard, the most words that one call of a counted script gave to commands and got from them. */
  async mostWords(): Promise<number[]> {
    const keys = await Promise.all(
      this.raws.map(async (raw) => (await raw.keys("*:times:words")).map((key) => raw.get(key))),
    );
    return (await Promise.all(keys.flat())).map(Number);
  }

  #urlOf(node: number, isProxied: boolean): string {
    return isProxied ? this.proxies[node]!.url : this.servers[node]!.url;
  }

  /** A client of the cluster that knows its nodes, if need be, by their proxies only. */
  #client(isProxied: boolean): never {
    const ways = this.servers.map(
      ({ port }, i) => [`127.0.0.1:${port}`, { host: "127.0.0.1", port: this.proxies[i]!.port }] as const,
    );
    const client = new Cluster([this.#urlOf(0, isProxied), this.#urlOf(1, isProxied)], {
      ...(isProxied && { natMap: Object.fromEntries(ways) }),
      clusterRetryStrategy: () => 50,
    });
    client.on("error", () => {});
    this.#ends.push(() => client.disconnect());
    return client as never;
  }
}

async function alone() {
  const server = await startRedis({ tcp: true });
  return { nodes: [server], stop: server.stop };
}
