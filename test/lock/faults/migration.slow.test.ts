import { setTimeout as pause } from "node:timers/promises";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Lock } from "../../../src/entries/index.ts";
import { lockKeyOf } from "../../../src/holds/lock/lock-state.ts";
import type { Store } from "../../../src/store/contract.ts";
import { slotOf } from "../../../src/store/keys.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type RedisCluster, startCluster } from "../../harness/servers/redis-cluster.ts";
import { until } from "../../harness/until.ts";

const PROCESSES = 4;
const MOVES = 6;

let cluster: RedisCluster;
let nodes: Redis[];
let clients: Cluster[];
let stores: Store[];
beforeAll(async () => {
  cluster = await startCluster(2);
  nodes = cluster.nodes.map(({ url }) => new Redis(url));
  clients = Array.from({ length: PROCESSES }, () => new Cluster([cluster.url]));
  stores = clients.map((client) => redisStore(client as never, { deadline: 2000 }));
});
afterAll(async () => {
  await Promise.all((stores ?? []).map((store) => store.close()));
  for (const each of [...(clients ?? []), ...(nodes ?? [])]) each.disconnect();
  await cluster?.stop();
});

/** Moves a slot as redis-cli's reshard does: open on both sides, key by key, then given to the other node. */
async function moveSlot(slot: number, from: number, to: number): Promise<void> {
  const ids = await Promise.all(nodes.map(async (node) => String(await node.call("CLUSTER", "MYID"))));
  await nodes[to]!.call("CLUSTER", "SETSLOT", String(slot), "IMPORTING", ids[from]!);
  await nodes[from]!.call("CLUSTER", "SETSLOT", String(slot), "MIGRATING", ids[to]!);
  await pause(40);
  for (;;) {
    const keys = (await nodes[from]!.call("CLUSTER", "GETKEYSINSLOT", String(slot), "1")) as string[];
    if (keys.length === 0) break;
    const { port } = cluster.nodes[to]!;
    await nodes[from]!.call("MIGRATE", "127.0.0.1", String(port), "", "0", "2000", "KEYS", ...keys);
    await pause(40);
  }
  await cluster.giveSlot(slot, to);
}

test("a slot moves back and forth under locks of 4 processes: delays, but no error, no double hold, and rising fences", async () => {
  const slot = slotOf(lockKeyOf(stores[0]!, "nightly"));
  let owner = slot < 8192 ? 0 : 1;
  let isOver = false;
  let inside = 0;
  const fences: number[] = [];
  const runs = stores.map(async (store) => {
    const lock = new Lock(store, "nightly");
    while (!isOver) {
      const held = await lock.tryLock({ wait: "30s", lease: "30s" });
      expect(++inside).toBe(1);
      fences.push(held!.fence);
      await pause(1);
      inside--;
      expect(await held!.release()).toBe(true);
    }
  });
  const moves = (async () => {
    for (let i = 0; i < MOVES; i++) {
      await pause(60);
      const before = fences.length;
      await moveSlot(slot, owner, 1 - owner);
      owner = 1 - owner;
      await until("holds go on", () => fences.length >= before + 8);
    }
  })();
  await moves.finally(() => {
    isOver = true;
  });
  await Promise.all(runs);
  expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
});
