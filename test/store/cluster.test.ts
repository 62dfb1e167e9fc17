import { Cluster } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/store/contract.ts";
import { slotOf } from "../../src/store/keys.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { clusterClients, type HandedIn } from "./contract/clients.ts";
import { append, move } from "./ops/operations.ts";

const input = (text: string) => ({ bytes: Buffer.from(text), maxBytes: 1e9, lifetimeMs: 0 });

let cluster: RedisCluster;
let client: Cluster;
beforeAll(async () => {
  cluster = await startCluster(2);
  client = new Cluster([cluster.url]);
});
beforeEach(async () => {
  for (const node of client.nodes("master")) await node.script("FLUSH");
});
afterAll(async () => {
  client?.disconnect();
  await cluster?.stop();
});

describe.each(Object.entries(clusterClients))("%s", (_name, connect) => {
  let store: Store;
  let handedIn: HandedIn;
  beforeAll(async () => {
    await cluster.flush();
    handedIn = connect(cluster.urls);
    store = redisStore(handedIn.client);
  });
  afterAll(async () => {
    await store?.close();
    handedIn?.end();
  });

  test("keys of many slots on both nodes are reached in one turn, and missing scripts loaded", async () => {
    const keys = Array.from({ length: 300 }, (_, i) => store.keyOf(`many${i}`));
    expect(new Set(await Promise.all(keys.map((key) => cluster.ownerOf(key)))).size).toBe(2);
    const results = await Promise.all(keys.map((key) => store.run(append, key, input("x"))));
    expect(results.every(({ length }) => length === 1)).toBe(true);
  });

  test("a slot that has moved: the call follows it and runs once", async () => {
    const key = store.keyOf("moving");
    await store.run(append, key, input("x"));
    const owner = await cluster.ownerOf(key);
    await client.del(key);
    await cluster.giveSlot(slotOf(key), 1 - owner);
    const runs = [1, 2, 3].map(() => store.run(append, key, input("y")));
    expect((await Promise.all(runs)).map(({ length }) => length)).toEqual([1, 2, 3]);
    expect(await client.get(key)).toBe("yyy");
  });

  test("a step on two keys works, and refuses by key", async () => {
    const key = store.keyOf("pair");
    await store.run(append, key, input("abc"));
    const results = await Promise.allSettled([store.run(move, key, undefined), store.run(move, key, undefined)]);
    expect(results).toMatchObject([{ value: 3 }, { reason: { code: "LOST" } }]);
  });

  /** A slot in which one name has a value and another has none, opened to move from its owner to the other node. */
  async function openSlot() {
    const key = store.keyOf("here");
    const slot = slotOf(key);
    let i = 0;
    while (slotOf(store.keyOf(`${i}`)) !== slot) i++;
    const owner = await cluster.ownerOf(key);
    await store.run(append, key, input("abc"));
    const nodes = [owner, 1 - owner].map((index) => {
      const { port } = cluster.nodes[index]!;
      return client.nodes("master").find((node) => node.options.port === port)!;
    });
    const ids = await Promise.all(nodes.map(async (node) => String(await node.call("CLUSTER", "MYID"))));
    await nodes[1]!.call("CLUSTER", "SETSLOT", String(slot), "IMPORTING", ids[0]!);
    await nodes[0]!.call("CLUSTER", "SETSLOT", String(slot), "MIGRATING", ids[1]!);
    const close = async () => {
      for (const node of nodes) await node.call("CLUSTER", "SETSLOT", String(slot), "STABLE");
    };
    return { key, missing: store.keyOf(`${i}`), nodes, close };
  }

  test("a migrating slot: a call that it splits (TRYAGAIN) is sent key by key", async () => {
    const { key, missing, nodes, close } = await openSlot();
    const runs = [key, missing].map((each) => store.run(append, each, input("d")));
    expect((await Promise.all(runs)).map(({ length }) => length)).toEqual([4, 1]);
    expect(await nodes[1]!.call("ASKING").then(() => nodes[1]!.get(missing))).toBe("d");
    await close();
    await client.del(key);
  });

  test("a migrating slot: a step on a present and a missing key waits for the end", async () => {
    const { key, close } = await openSlot();
    const moved = store.run(move, key, undefined);
    await store.run(append, key, input("d"));
    await close();
    expect(await moved).toBe(4);
  });
});
