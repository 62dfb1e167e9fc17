import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { shardKeys } from "../../../src/counters/counter/format/layout.ts";
import { slotOf } from "../../../src/store/keys.ts";
import { DIMENSIONS, Load } from "../../counter/faults/load.ts";
import { open, SHARDS } from "../../counter/faults/stage.ts";
import { atEnd } from "../../harness/ends.ts";
import { startProxy } from "../../harness/network/proxy.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { Random } from "../../simulator/world/random.ts";
import { drainInto, expectDrained, stepping, usePostgres } from "./live.ts";

const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const database = usePostgres();

async function openCluster(nodes: number) {
  const cluster = await startCluster(nodes);
  atEnd(() => cluster.stop());
  const connect = () => {
    const client = new Cluster([...cluster.urls]);
    atEnd(() => client.disconnect());
    return open(client as never, { deadline: 20_000 });
  };
  const raws = cluster.nodes.map(({ url }) => new Redis(url));
  atEnd(() => raws.map((raw) => raw.disconnect()));
  /** Moves a key's slot to the other node, once both know where it is: their news of the move before may be late. */
  const move = async (key: string) => {
    const slot = slotOf(key);
    const ownerIn = (ranges: unknown) =>
      (ranges as [number, number, [string, number]][]).find(([from, to]) => from <= slot && slot <= to)?.[2][1];
    let owners: unknown[] = [];
    await until("the nodes agree", async () => {
      owners = await Promise.all(raws.map(async (raw) => ownerIn(await raw.cluster("SLOTS"))));
      return owners[0] === owners[1];
    });
    await cluster.moveSlot(slot, owners[0] === cluster.nodes[0]!.port ? 1 : 0);
  };
  return { connect, move };
}

test(`all shards move back and forth under producers and a drain (seed ${seed})`, async () => {
  const random = new Random(seed);
  const { connect, move } = await openCluster(2);
  const producers = [connect(), connect(), connect()];
  const drainer = connect();
  const load = new Load(2500);
  const live = drainInto(database.pool, drainer.flow, { every: random.int(20, 150) });
  await live.service.start();
  for (const [i, { flow }] of producers.entries()) load.start(flow, [10, 20, 400][i]!);
  let isOver = false;
  let reads = 0;
  const reading = (async () => {
    for (; !isOver; reads++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const least = [...load.acknowledged.values()].reduce((sum, count) => sum + count, 0);
      const rows = await drainer.flow.read({ bucket: "day", table: live.sink });
      expect(rows.reduce((sum, { count }) => sum + Number(count), 0)).toBeGreaterThanOrEqual(least);
    }
  })();
  const keys = shardKeys(drainer.store, "flow", SHARDS);
  for (let turn = 0; turn < 2; turn++) {
    for (const key of [...keys].sort(() => random.int(-1, 1))) {
      await move(key);
      const drained = live.reported.generations;
      const added = load.acknowledgedTotal + random.int(1, 2000);
      await until("it counts on", () => load.acknowledgedTotal > added);
      if (random.chance(0.5)) await until("it drains on", () => live.reported.generations > drained);
    }
  }
  await load.stop();
  await live.service.stop();
  isOver = true;
  await reading;
  expect(load.errors).toEqual([]);
  expect(live.reported.errors).toEqual([]);
  expect(live.reported.generations).toBeGreaterThan(SHARDS);
  expect(reads).toBeGreaterThan(2);
  await expectDrained(database.pool, live, drainer.flow, load);
});

test("a shard that moves during each read is drained completely", async () => {
  const { connect, move } = await openCluster(2);
  const { store, flow } = connect();
  let moves = 0;
  let pages = 0;
  const moving = stepping(store, {
    async before(step, key, input) {
      if (step !== "counter/page") return;
      pages = (input as { cursor: string }).cursor === "0" ? 1 : pages + 1;
      if (pages !== 2) return;
      moves++;
      await move(key);
    },
  });
  const load = new Load();
  const drained = new Counters(moving, "flow", { dimensions: DIMENSIONS, shards: 1 });
  const wide = new Counters(store, "flow", { dimensions: DIMENSIONS, shards: 1 });
  const live = drainInto(database.pool, drained);
  await live.sink.createTables(flow.shape);
  for (let round = 0; round < 2; round++) {
    await Promise.all(Array.from({ length: 4000 }, (_, i) => load.add(wide, `wide ${i}`)));
    const report = await live.service.drainOnce();
    expect(live.reported.errors).toEqual([]);
    expect(report).toMatchObject({ drained: 1, failed: 0, events: 4000n });
  }
  expect(moves).toBeGreaterThan(2);
  await expectDrained(database.pool, live, wide, load);
});

test(`one in twenty replies of increments is lost during a drain (seed ${seed})`, async () => {
  const random = new Random(seed);
  const server = await startRedis({ tcp: true });
  const proxy = await startProxy(server.port);
  atEnd(() => server.stop());
  atEnd(() => proxy.close());
  const { flow } = open(proxy.url, { deadline: 20_000 });
  const drainer = open(server.url);
  const load = new Load();
  const live = drainInto(database.pool, drainer.flow, { every: random.int(50, 100) });
  await live.service.start();
  load.start(flow, 20);
  let lost = 0;
  for (; lost < 60; lost++) {
    const sent = (proxy.handedOn.get("EVALSHA") ?? 0) + random.int(0, 20);
    await until("it counts on", () => (proxy.handedOn.get("EVALSHA") ?? 0) > sent, undefined, 1);
    proxy.dropReplies(1, { afterBytes: random.int(0, 8) });
  }
  await load.stop();
  await live.service.stop();
  expect(load.errors).toEqual([]);
  expect(lost / (proxy.handedOn.get("EVALSHA") ?? 0)).toBeGreaterThan(0.05);
  expect(live.reported.errors).toEqual([]);
  expect(live.reported.generations).toBeGreaterThan(SHARDS);
  await expectDrained(database.pool, live, drainer.flow, load);
});
