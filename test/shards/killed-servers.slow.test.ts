import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OrielError, redisStore, ShardedSeriesGroup, type Store } from "../../src/entries/index.ts";
import { spreadKeys } from "../../src/store/keys.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

type Group = ShardedSeriesGroup<readonly ["id", "lane"]>;
const OPTIONS = { labels: ["id", "lane"], retention: "1h" } as const;

/** Processes that record, and what they know of their events. Each event has a value of its own, which is its label `id` too. */
class Load {
  readonly acknowledged = new Set<number>();
  readonly refused = new Set<number>();
  readonly groups: Group[] = [];
  readonly shares = new Set<number>();
  last = 0;

  async record(group: Group): Promise<void> {
    const value = ++this.last;
    try {
      await group.record(value, { id: `${value}`, lane: `${value % 3}` });
      this.acknowledged.add(value);
    } catch (error) {
      expect(error).toMatchObject({ transient: true });
      if ((error as OrielError).applied === "no") this.refused.add(value);
    }
  }

  /** All processes record at once, `times` times, and ask now and then. */
  async play(times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      await Promise.all(this.groups.flatMap((group) => [this.record(group), this.record(group)]));
      if (i % 10 === 9) await this.check(this.groups[i % this.groups.length]!);
    }
  }

  /** An answer has no event twice, none in another row, and everything that was acknowledged before, or it says which share is away. */
  async check(group: Group): Promise<boolean> {
    const needed = [...this.acknowledged];
    const answer = await group.stats({ percentiles: [] }).catch((error) => {
      expect(error).toMatchObject({ transient: true });
      return undefined;
    });
    if (!answer) return false;
    for (const { labels, count, min, max } of answer.rows)
      expect([count, min, labels.id, labels.lane]).toEqual([1, max, `${max}`, `${max % 3}`]);
    const found = new Set(answer.rows.map(({ max }) => max));
    expect(found.size).toBe(answer.rows.length);
    expect([...this.refused].filter((value) => found.has(value))).toEqual([]);
    if (answer.degraded) {
      expect(answer.degradedBy).toBe("shards");
      this.shares.add(answer.missingShare!);
      return false;
    }
    expect(needed.filter((value) => !found.has(value))).toEqual([]);
    return true;
  }

  async settle(others: readonly Group[]): Promise<void> {
    for (const group of [...this.groups, ...others])
      await until("an answer is whole", async () => {
        await this.record(this.groups[0]!);
        return this.check(group);
      });
    await Promise.all([...this.groups, ...others].map((group) => group.close()));
  }
}

describe("a list of servers that write each call to disk", () => {
  const servers: { server: RedisServer; restart(): Promise<void> }[] = [];
  const stores: Store[] = [];
  const folders: string[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 3; i++) {
      const folder = mkdtempSync(join(tmpdir(), "oriel-aof-"));
      folders.push(folder);
      const args = ["--dir", folder, "--appendonly", "yes", "--appendfsync", "always"];
      const its = {
        server: await startRedis({ tcp: true, args }),
        async restart() {
          const { port } = its.server;
          await its.server.stop();
          its.server = await startRedis({ tcp: port, args });
        },
      };
      servers.push(its);
    }
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    for (const { server } of servers) await server.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  test("one is killed and comes back, again and again: no acknowledged event is lost, none is doubled or in another row", async () => {
    const open = (count: number) => {
      // The deadline ends calls that nobody answers.
      const its = servers.slice(0, count).map(({ server }) => redisStore(server.url, { deadline: 500 }));
      stores.push(...its);
      return new ShardedSeriesGroup(its, "storm", OPTIONS);
    };
    const load = new Load();
    load.groups.push(open(2), open(2));
    await load.play(10);
    expect(load.acknowledged.size).toBe(40);
    // Those with the shorter list record on, and say that they do not know a server.
    load.groups.push(open(3));
    for (const which of [1, 0, 2, 1]) {
      await load.play(10);
      const { size } = load.acknowledged;
      await servers[which]!.server.kill();
      await load.play(20);
      expect(load.acknowledged.size).toBeGreaterThan(size);
      await servers[which]!.restart();
    }
    const long = new Load();
    Object.assign(long, { acknowledged: load.acknowledged, refused: load.refused, last: load.last });
    long.groups.push(load.groups.pop()!, open(3));
    await long.settle([open(3)]);
    // The longer list lacks one of three, and the shorter one that and one of its own.
    expect([...load.shares].sort()).toEqual(expect.arrayContaining([1 / 3, 2 / 3]));
    await Promise.all(load.groups.map((group) => group.close()));
  });
});

describe("a cluster", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster(3, 1);
  });
  afterAll(() => cluster?.stop());

  test("primaries are replaced and die, and shards become more: no acknowledged event is lost, none is doubled or in another row", async () => {
    const client = new Cluster([...cluster.urls], { slotsRefreshTimeout: 3000 });
    client.on("error", () => {});
    const store = redisStore(client, { deadline: 3000 });
    const open = (shards: number) => new ShardedSeriesGroup(store, "storm", { ...OPTIONS, shards, replicas: 1 });
    const load = new Load();
    load.groups.push(open(3), open(3));
    await load.play(10);
    const key = spreadKeys(store, "storm", "shard", 3)[0]!;
    const first = await cluster.ownerOf(key);
    const replica = await cluster.replicaOf(first);
    await Promise.all([load.play(20), cluster.failover(replica)]);
    load.groups.push(open(6));
    await load.play(10);
    await cluster.nodeTimeout(1000);
    const owner = await cluster.ownerOf(key);
    const other = await cluster.replicaOf(owner);
    await cluster.nodes[owner]!.kill();
    await load.play(5);
    await until("the replica takes over", async () => (await cluster.ownerOf(key)) === other);
    // With one node of three without a replica, its shards wait for none.
    const after = new ShardedSeriesGroup(store, "storm", { ...OPTIONS, shards: 6 });
    await load.check(after);
    expect(load.acknowledged.size).toBeGreaterThan(100);
    await until("an answer is whole", () => load.check(after));
    await Promise.all([after, ...load.groups].map((group) => group.close()));
    await store.close();
    client.disconnect();
  });
});
