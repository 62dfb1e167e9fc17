import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { Load } from "../../counter/faults/load.ts";
import { open, SHARDS } from "../../counter/faults/stage.ts";
import { atEnd } from "../../harness/ends.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { until } from "../../harness/until.ts";
import { Random } from "../../simulator/world/random.ts";
import { drainInto, expectDrained, usePostgres } from "./live.ts";

const first = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const seeds = Array.from({ length: Number(process.env.ORIEL_SEEDS ?? 1) }, (_, i) => first + i);
const database = usePostgres();

/** Writes of the primary after its replica took over, and before it learns of it, are lost, acknowledged or not. */
test.each(seeds)("two servers fail over to each other under load and two drains (seed %i)", async (seed) => {
  const random = new Random(seed);
  const cluster = await startCluster(1, 1);
  atEnd(() => cluster.stop());
  const raws = cluster.nodes.map(({ url }) => new Redis(url));
  atEnd(() => raws.map((raw) => raw.disconnect()));
  const [deadlineMs, replicas] = [random.pick([500, 20_000]), random.int(0, 1)];
  let losses = 0;
  const connect = () => {
    const client = new Cluster([...cluster.urls], { clusterRetryStrategy: () => 20, slotsRefreshTimeout: 3000 });
    client.on("error", () => {});
    atEnd(() => client.disconnect());
    return open(client as never, { deadline: deadlineMs }, { replicas, onLost: () => void losses++ }).flow;
  };
  const producers = [connect(), connect()];
  const load = new Load();
  const live = drainInto(database.pool, connect(), { every: random.int(5, 60), replicas: 1 });
  const drains = [live.service, live.open(connect(), { every: random.int(5, 60), replicas: 1 })];
  await Promise.all(drains.map((drain) => drain.start()));
  for (const flow of producers) load.start(flow, 20);
  await until("it drains", () => live.reported.generations > SHARDS);
  for (let turn = 0; turn < 3; turn++) {
    const [old, next] = turn % 2 === 0 ? [0, 1] : [1, 0];
    const isPaused = random.chance(0.4);
    if (isPaused) cluster.nodes[old]!.pause();
    await new Promise((resolve) => setTimeout(resolve, random.int(0, 300)));
    const taken = cluster.failover(next, "TAKEOVER");
    if (isPaused) setTimeout(() => cluster.nodes[old]!.resume(), random.int(0, 500));
    await taken;
    const follows = /role:slave[\s\S]*master_link_status:up/;
    await until("it follows", async () => follows.test(await raws[old]!.info("replication")));
    const [added, generations] = [load.acknowledgedTotal, live.reported.generations];
    await until("it counts on", () => load.acknowledgedTotal > added + 100);
    await until("it drains on", () => live.reported.generations > generations + SHARDS);
  }
  await load.stop();
  for (const flow of producers) await flow.close(); // gives again what was lost last
  await Promise.all(drains.map((drain) => drain.stop()));
  expect(losses).toBe(0);
  await expectDrained(database.pool, live, producers[0]!, load);
});
