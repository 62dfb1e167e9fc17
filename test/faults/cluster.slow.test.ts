import { Cluster } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Series } from "../../src/entries/index.ts";
import { slotOf } from "../../src/store/keys.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { until } from "../harness/until.ts";
import { clusterClients } from "../store/contract/clients.ts";
import { Scene } from "./scene.ts";

let cluster: RedisCluster;
let raw: Cluster;
beforeAll(async () => {
  cluster = await startCluster(3, 1);
  raw = new Cluster([...cluster.urls], { clusterRetryStrategy: () => 50 });
  raw.on("error", () => {});
});
beforeEach(() => cluster.flush());
afterAll(async () => {
  raw?.disconnect();
  await cluster?.stop();
});

const keyOf = ({ name }: Scene) => `oriel:{${name}}`;

/** A series through each kind of client. */
function openAll(scene: Scene): Series[] {
  return Object.values(clusterClients).map((connect) => {
    const { client, end } = connect(cluster.urls);
    scene.atEnd(end);
    return scene.open(client, { deadline: 3000 });
  });
}

async function underLoad(scene: Scene, troubles: () => Promise<void>): Promise<Series[]> {
  const writers = openAll(scene);
  for (const writer of writers) await until("it is reached", () => scene.record(writer));
  const loads = writers.map((writer) => scene.load(writer));
  await scene.progress(100);
  await troubles();
  await scene.progress(100);
  await Promise.all(loads.map((load) => load.stop()));
  return writers;
}

test("the series' slot moves from node to node and back under load: nothing is lost", async () => {
  const scene = new Scene("resharded");
  const slot = slotOf(keyOf(scene));
  await underLoad(scene, async () => {
    for (const node of [0, 1, 2, 0, 2, 1, 0, 1, 2, 1]) {
      await cluster.moveSlot(slot, node);
      expect(await cluster.ownerOf(keyOf(scene))).toBe(node);
      await scene.progress(40);
    }
  });
  expect(await scene.settle(raw, raw)).toEqual([]);
  await scene.close();
});

describe("failover", () => {
  test("a coordinated failover under load loses nothing", async () => {
    const scene = new Scene("handed over");
    const primary = await cluster.ownerOf(keyOf(scene));
    const replica = await cluster.replicaOf(primary);
    await underLoad(scene, async () => {
      await cluster.failover(replica);
      expect(await cluster.ownerOf(keyOf(scene))).toBe(replica);
    });
    expect(await scene.settle(raw, raw)).toEqual([]);
    await scene.close();
  });

  test("the primary is killed under load: lost events are reported, and with `replicas: 1` none is lost", async () => {
    // Both series in one slot, so that the same node is theirs.
    const [scene, safe] = [new Scene("killed"), new Scene("killed too", { replicas: 1 })];
    const primary = await cluster.ownerOf(keyOf(scene));
    await cluster.moveSlot(slotOf(keyOf(safe)), primary);
    const careful = openAll(safe);
    for (const writer of careful) await until("it is reached", () => safe.record(writer));
    const loads = careful.map((writer) => safe.load(writer));
    await safe.progress(50);
    const writers = await underLoad(scene, async () => {
      await cluster.nodeTimeout(1000);
      const replica = await cluster.replicaOf(primary);
      await cluster.nodes[primary]!.kill();
      await until("the replica takes over", async () => (await cluster.ownerOf(keyOf(scene))) === replica);
    });
    await Promise.all(loads.map((load) => load.stop()));
    const missing = await scene.settle(raw, raw, { mayLose: true });
    const reported = await Promise.all(writers.map(async (writer) => (await writer.stats()).degradedBy));
    expect(reported.includes("lost")).toBe(missing.length > 0);
    expect(await safe.settle(raw, raw, { mayLose: true })).toEqual([]);
    await Promise.all([scene.close(), safe.close()]);
  });
});
