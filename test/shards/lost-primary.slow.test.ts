import { Cluster } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OrielError, redisStore, ShardedSeries, type WatchedStore } from "../../src/entries/index.ts";
import { spreadKeys } from "../../src/store/keys.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { until } from "../harness/until.ts";

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster(3);
  await cluster.nodeTimeout(600_000);
});
afterAll(() => cluster?.stop());

test("shards lie on all primaries; while one stands still, answers say so, and nothing acknowledged is lost or doubled", async () => {
  const client = new Cluster([...cluster.urls], { slotsRefreshTimeout: 3000 });
  client.on("error", () => {});
  const store = redisStore(client, { deadline: 10_000 }) as WatchedStore;
  try {
    const series = new ShardedSeries(store, "hits", { shards: 3, retention: "1h" });
    const keys = spreadKeys(store, "hits", "shard", 3);
    const owners = await Promise.all(keys.map((key) => cluster.ownerOf(key)));
    expect([...owners].sort()).toEqual([0, 1, 2]);
    // One that does not list the spreads.
    const lister = await cluster.ownerOf(store.keyOf("hits"));
    const standing = owners.find((owner) => owner !== lister)!;

    let sent = 0;
    const acknowledged = new Set<number>();
    const unknown = new Set<number>();
    const record = async () => {
      const value = ++sent;
      try {
        await series.record(value);
        acknowledged.add(value);
      } catch (error) {
        expect(error).toMatchObject({ transient: true });
        if ((error as OrielError).applied === "unknown") unknown.add(value);
      }
    };
    for (let i = 0; i < 30; i++) await Promise.all([record(), record()]);
    expect(acknowledged.size).toBe(60);

    cluster.nodes[standing]!.pause();
    await until("a shard is left out", async () => {
      await Promise.all([record(), record(), record()]);
      return store.health.state === "down";
    });
    const { size } = acknowledged;
    for (let i = 0; i < 30; i++) await record();
    expect(acknowledged.size).toBe(size + 30);
    const reader = new ShardedSeries(store, "hits", { shards: 3, retention: "1h" });
    for (const one of [series, reader]) {
      const answer = await one.stats({ percentiles: [] });
      expect(answer).toMatchObject({ degraded: true, degradedBy: "shards", missingShare: 1 / 3 });
      expect(answer.count).toBeGreaterThanOrEqual(40 + 30);
      expect(answer.count).toBeLessThanOrEqual(sent);
    }

    cluster.nodes[standing]!.resume();
    await until("all answer", async () => !(await series.stats({ percentiles: [] })).degraded);
    for (const one of [series, reader]) {
      const values = [...(await one.values())];
      const found = new Set(values);
      expect(found.size).toBe(values.length);
      expect([...acknowledged].filter((value) => !found.has(value))).toEqual([]);
      expect(values.filter((value) => !acknowledged.has(value) && !unknown.has(value))).toEqual([]);
    }
    await Promise.all([series.close(), reader.close()]);
  } finally {
    await store.close();
    client.disconnect();
  }
});
