import { Cluster } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closedKey } from "../../../src/engine/journal/steps/rotate.ts";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { slotOf } from "../../../src/store/keys.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { type RedisCluster, startCluster } from "../../harness/servers/redis-cluster.ts";
import { until } from "../../harness/until.ts";
import { ask, fill, NAME, shortChunks } from "../cold-journal.ts";

describe("while a slot migrates", () => {
  let cluster: RedisCluster;
  let client: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(2);
    client = new Cluster([...cluster.urls], { slotsRefreshTimeout: 3000 });
  });
  afterAll(async () => {
    client?.disconnect();
    await cluster?.stop();
  });

  test("a cold answer is complete, wherever its chunks are", async () => {
    shortChunks();
    const store = redisStore(client as unknown as IoredisClient, { deadline: 10_000 });
    const values = await fill(store);
    const key = store.keyOf(NAME);
    const slot = slotOf(key);
    const from = await cluster.ownerOf(key);
    const nodes = [from, 1 - from].map(
      (index) => client.nodes("master").find((node) => node.options.port === cluster.nodes[index]!.port)!,
    );
    const ids = await Promise.all(nodes.map(async (node) => String(await node.call("CLUSTER", "MYID"))));
    // What cannot be found is asked for key by key, which follows each to its node.
    const look = async () => {
      expect(await ask(store)).toMatchObject({ values, stats: { count: values.length, degraded: false } });
    };
    const open = nodes[0]!;
    const number = (await open.getrangeBuffer(key, 8, 15)).readDoubleLE();
    const closed = (await open.keys(`${key}:*`)).sort();
    expect(closed.at(-1)).toBe(closedKey(key, number - 1));
    for (const [there, back, order] of [
      [1, 0, [key, ...closed]],
      [0, 1, [...closed, key]],
      [1, 0, [...closed.slice(0, 4), key, ...closed.slice(4)]],
    ] as const) {
      await nodes[there]!.call("CLUSTER", "SETSLOT", String(slot), "IMPORTING", ids[back]!);
      await nodes[back]!.call("CLUSTER", "SETSLOT", String(slot), "MIGRATING", ids[there]!);
      await look();
      for (const each of order) {
        await nodes[back]!.call("MIGRATE", "127.0.0.1", String(nodes[there]!.options.port), each, "0", "5000");
        await look();
      }
      for (const node of [nodes[there]!, nodes[back]!])
        await node.call("CLUSTER", "SETSLOT", String(slot), "NODE", ids[there]!);
      await look();
    }
    await store.close();
  });

  test("back and forth under load, a cold reader counts the acknowledged events", async () => {
    shortChunks();
    const store = redisStore(client as unknown as IoredisClient, { deadline: 3000 });
    const writer = new Series(store, "moving", { values: "float64" });
    let acknowledged = 0;
    let recorded = 0;
    let isOver = false;
    const write = async () => {
      while (!isOver) {
        recorded += 10;
        await writer.recordMany(Array.from({ length: 10 }, (_, i) => i));
        acknowledged += 10;
      }
    };
    let looks = 0;
    const look = async () => {
      while (!isOver) {
        const least = acknowledged;
        const reader = new Series(store, "moving", { values: "float64" });
        const { count, degraded } = await reader.stats();
        expect(degraded).toBe(false);
        expect(count).toBeGreaterThanOrEqual(least);
        expect(count).toBeLessThanOrEqual(recorded);
        await reader.close();
        looks++;
      }
    };
    const load = Promise.all([write(), look(), look()]);
    const end = async () => {
      isOver = true;
      await load;
    };
    try {
      for (let turn = 0; turn < 6; turn++) {
        const before = looks;
        const owner = await cluster.ownerOf(store.keyOf("moving"));
        await cluster.moveSlot(slotOf(store.keyOf("moving")), 1 - owner);
        await until("cold readers have looked", () => looks > before + 4);
      }
    } finally {
      await end();
    }
    expect((await new Series(store, "moving", { values: "float64" }).stats()).count).toBe(acknowledged);
    await writer.close();
    await store.close();
  });
});
