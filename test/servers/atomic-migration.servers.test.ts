import { describe, expect, test } from "vitest";
import { findServers } from "../../scripts/servers/find.mjs";
import { DelayQueue, Limiter, Lock, redisStore, slidingWindow } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { Load } from "../counter/faults/load.ts";
import { open as openCounters } from "../counter/faults/stage.ts";
import { Table } from "../counter/simulator/table.ts";
import { Scene } from "../faults/scene.ts";
import { atEnd } from "../harness/ends.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { until } from "../harness/until.ts";
import { clusterClients } from "../store/contract/clients.ts";

/** Slots of the first and of the second node. Each keeps a few: a node without slots would become a replica. */
const FIRST = [0, 8180] as const;
const SECOND = [8192, 16_370] as const;
const CALLERS = 4;
/** The first versions that move slots as a whole. */
const SINCE: Record<string, [number, number]> = { Redis: [8, 4], Valkey: [9, 0] };

const able = findServers().filter((server) => {
  if (!("path" in server)) return false;
  const [major, minor] = server.version.split(".").map(Number) as [number, number];
  const [sinceMajor, sinceMinor] = SINCE[server.product] ?? [Number.POSITIVE_INFINITY, 0];
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
});

/** Callers of the structures that count in no other way than once. */
class Work {
  readonly fences: number[] = [];
  readonly handled: number[] = [];
  readonly errors: unknown[] = [];
  allowed = 0;
  added = 0;
  #isOver = false;
  #inside = 0;
  readonly #limiter: Limiter;
  readonly #queue: DelayQueue<number>;
  readonly #runs: Promise<void>[];
  readonly #worker;

  constructor(readonly store: Store) {
    this.#limiter = new Limiter(store, [slidingWindow({ limit: 1_000_000, span: "1h" })], { name: "moving" });
    this.#queue = new DelayQueue<number>(store, "moving", { shards: 4 });
    this.#worker = this.#queue.process(({ payload }) => void this.handled.push(payload), { concurrency: 20 });
    this.#worker.on("error", ({ error }) => void this.errors.push(error));
    this.#runs = Array.from({ length: CALLERS }, () => [
      this.#repeat(async () => void ((await this.#limiter.take("u")).allowed && this.allowed++)),
      this.#repeat(async () => void (await this.#queue.add(this.added++, { delay: 5 }))),
      this.#repeat(() => this.#hold()),
    ]).flat();
  }

  async #repeat(call: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await call().catch((error) => void this.errors.push(error));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async #hold(): Promise<void> {
    const held = await new Lock(this.store, "moving").tryLock({ wait: "20s", lease: "20s" });
    expect(++this.#inside).toBe(1);
    this.fences.push(held!.fence);
    this.#inside--;
    expect(await held!.release()).toBe(true);
  }

  async progress(): Promise<void> {
    const [holds, allowed, handled] = [this.fences.length, this.allowed, this.handled.length];
    await until("all go on", () => {
      const done = [this.fences.length - holds, this.allowed - allowed, this.handled.length - handled];
      return Math.min(...done) >= 20;
    });
  }

  async check(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#runs);
    await until("all messages are handled", () => new Set(this.handled).size === this.added);
    expect(this.errors).toEqual([]);
    expect(this.handled).toHaveLength(this.added);
    expect(this.fences).toEqual([...new Set(this.fences)].sort((a, b) => a - b));
    expect((await this.#limiter.peek("u")).remaining).toBe(1_000_000 - this.allowed);
    await this.#worker.close();
  }
}

async function started(path: string): Promise<RedisCluster> {
  const cluster = await startCluster(2, 0, path);
  atEnd(() => cluster.stop());
  return cluster;
}

describe("half of the slots move as a whole, there and back, under load", () => {
  if (able.length === 0) test.skip("no Redis from 8.4 and no Valkey from 9.0; ORIEL_SERVERS names one", () => {});
  for (const server of able)
    test.each(Object.entries(clusterClients))(
      `${server.name}, %s: nothing is lost or doubled, and no call fails`,
      async (_client, connect) => {
        const cluster = await started("path" in server ? server.path : "");
        const given = connect(cluster.urls);
        atEnd(() => given.end());
        const scene = new Scene("moved");
        const writer = scene.open(given.client, { deadline: 10_000 });
        await until("it is reached", () => scene.record(writer));
        const values = scene.load(writer);
        const store = redisStore(given.client, { deadline: 10_000 });
        atEnd(() => store.close());
        const work = new Work(store);
        const { flow } = openCounters(given.client, { deadline: 10_000 });
        const counts = new Load();
        counts.start(flow, 4);
        for (const [from, to, node] of [
          [...FIRST, 1],
          [...SECOND, 0],
          [...FIRST, 0],
          [...SECOND, 1],
        ] as const) {
          await work.progress();
          await cluster.migrateSlots(from, to, node);
          await scene.progress(20);
        }
        await work.progress();
        await Promise.all([values.stop(), counts.stop()]);
        await work.check();
        expect(counts.errors).toEqual([]);
        await counts.check(flow, new Table());
        expect(scene.ledger.failures).toEqual([]);
        const found = await scene.open(given.client, { deadline: 10_000 }).values();
        expect(scene.ledger.settle(found)).toEqual([]);
        expect(await writer.values()).toEqual(found);
        await flow.close();
        await scene.close();
      },
    );
});
