import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import type { Sink } from "../../../src/entries/sql.ts";
import { DIMENSIONS, Load } from "../../counter/faults/load.ts";
import { open, SHARDS } from "../../counter/faults/stage.ts";
import { atEnd } from "../../harness/ends.ts";
import { startProxy } from "../../harness/network/proxy.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { startReplicated } from "../../harness/servers/replicas.ts";
import { until } from "../../harness/until.ts";
import { Random } from "../../simulator/world/random.ts";
import { drainInto, expectDrained, stepping, tablesOf, usePostgres } from "./live.ts";

const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const database = usePostgres();

const STEPS = ["counter/freeze", "counter/page", "apply", "counter/acknowledge"];
const seeds = Array.from({ length: Number(process.env.ORIEL_SEEDS ?? 1) }, (_, i) => seed + i);
test.each(seeds)(
  "the primary of all shards is killed under load, after a step of their drain (seed %i)",
  async (own) => {
    const random = new Random(own);
    const moment = random.pick(STEPS);
    const cluster = await startCluster(1, 2);
    atEnd(() => cluster.stop());
    const [primary, ...replicas] = cluster.nodes;
    const connect = () => {
      const client = new Cluster([...cluster.urls], { clusterRetryStrategy: () => 20, slotsRefreshTimeout: 3000 });
      client.on("error", () => {});
      atEnd(() => client.disconnect());
      return open(client as never, { deadline: 20_000 }, { replicas: 1 });
    };
    let isDue = false;
    let killed: Promise<void> | undefined;
    const after = async (step: string) => {
      if (!isDue || step !== moment) return;
      killed ??= primary!.kill();
      await killed;
    };
    const producers = [connect(), connect()];
    const drained = new Counters(stepping(connect().store, { after }), "flow", {
      dimensions: DIMENSIONS,
      shards: SHARDS,
    });
    const load = new Load();
    const live = drainInto(database.pool, drained);
    const sink: Sink = {
      ...live.sink,
      async apply(...batch) {
        const applied = await live.sink.apply(...batch);
        await after("apply");
        return applied;
      },
    };
    const service = live.open(drained, { sink, every: random.int(5, 60), replicas: 1 });
    await service.start();
    for (const { flow } of producers) load.start(flow, 20);
    await until("it drains", () => live.reported.generations > 3 * SHARDS);
    // One replica lags: the primary takes with it what the other has.
    const late = random.pick(replicas);
    if (random.chance(0.7)) late.pause();
    isDue = true;
    await until("it is killed", () => !primary!.isRunning());
    late.resume();
    await cluster.failover(1 + (await furthest(replicas.map(({ url }) => url))), "TAKEOVER");
    const [added, generations] = [load.acknowledgedTotal, live.reported.generations];
    await until("it counts on", () => load.acknowledgedTotal > added + 500);
    await until("it drains on", () => live.reported.generations > generations + 2 * SHARDS);
    await load.stop();
    await service.stop();
    expect(load.errors).toEqual([]);
    await expectDrained(database.pool, live, producers[0]!.flow, load);
  },
);

/** Which replica has most of what the primary wrote. */
async function furthest(urls: readonly string[]): Promise<number> {
  const offsets = await Promise.all(
    urls.map(async (url) => {
      const raw = new Redis(url);
      const info = await raw.info("replication");
      raw.disconnect();
      return Number(/slave_repl_offset:(\d+)/.exec(info)?.[1]);
    }),
  );
  return offsets.indexOf(Math.max(...offsets));
}

/** A primary and its replica behind one address, and a drain whose store runs `before` ahead of each step. */
async function openPair(replicas: number) {
  const servers = await startReplicated(1);
  const proxy = await startProxy(servers.primary.port);
  atEnd(() => servers.stop());
  atEnd(() => proxy.close());
  const { store, flow } = open(proxy.url, { deadline: 1000 });
  const raw = (url: string) => {
    const client = new Redis(url, { retryStrategy: () => 100 });
    client.on("error", () => {});
    atEnd(() => client.disconnect());
    return client;
  };
  const replica = raw(servers.replicas[0]!.url);
  const primary = raw(servers.primary.url);
  // A replica that has just linked acknowledges nothing for up to a second.
  await primary.set("linked", "");
  await primary.del("linked");
  await until("the replica confirms", async () => (await primary.wait(1, 100)) === 1);
  const scene = {
    before: async (_step: string) => {},
    after: async (_step: string) => {},
    primary,
    /** From then on the replica gets nothing; until then it got all. */
    async cutOff() {
      await until("the replica has all", async () => (await hasAll(scene.primary, replica)) === true);
      await replica.call("REPLICAOF", "NO", "ONE");
    },
    /** The primary dies with the writes that its replica does not have. */
    async failOver() {
      await servers.primary.kill();
      proxy.moveTo(servers.replicas[0]!.port);
    },
  };
  const watched = stepping(store, { before: (step) => scene.before(step), after: (step) => scene.after(step) });
  const drained = new Counters(watched, "flow", { dimensions: DIMENSIONS, shards: SHARDS });
  const live = drainInto(database.pool, drained, { replicas });
  await live.sink.createTables(flow.shape);
  const load = new Load();
  const produce = (events: number) =>
    Promise.all(Array.from({ length: events }, (_, i) => load.add(flow, `r${i % 60}`, 1 + (i % 3))));
  return { scene, flow, live, load, produce };
}

async function hasAll(primary: Redis, replica: Redis): Promise<boolean> {
  const [own, other] = await Promise.all([primary, replica].map((each) => each.info("replication")));
  return /master_repl_offset:(\d+)/.exec(own!)?.[1] === /slave_repl_offset:(\d+)/.exec(other!)?.[1];
}

test("a generation that no replica has is not written to the table, and a failover undoes it", async () => {
  const { scene, live, load, produce, flow } = await openPair(1);
  await produce(100);
  expect(await live.service.drainOnce()).toMatchObject({ drained: SHARDS });
  const before = await tablesOf(database.pool, live);
  await scene.cutOff();
  await produce(100);
  expect(await live.service.drainOnce()).toMatchObject({ drained: 0, failed: SHARDS });
  expect(await tablesOf(database.pool, live)).toEqual(before);
  await scene.failOver();
  await flow.close(); // gives again
  await expectDrained(database.pool, live, flow, load);
});

test("an acknowledgement that a failover undoes is repeated, and the table does not change", async () => {
  const { scene, live, load, produce, flow } = await openPair(1);
  await produce(100);
  let asked = 0;
  let cut: Promise<void> | undefined;
  scene.before = async (step) => {
    if (step !== "counter/acknowledge") return;
    asked++;
    await until("all shards are in the table", () => asked === SHARDS);
    cut ??= scene.cutOff();
    await cut;
  };
  expect(await live.service.drainOnce()).toMatchObject({ drained: SHARDS });
  expect(await flow.read()).toEqual([]);
  await scene.failOver();
  expect(await flow.read()).not.toEqual([]);
  await produce(50);
  await expectDrained(database.pool, live, flow, load);
});

test("a failover between freezing and reading is no divergence", async () => {
  const { scene, live, load, produce, flow } = await openPair(1);
  await produce(100);
  await scene.cutOff();
  await produce(100);
  let isOver: Promise<void> | undefined;
  scene.before = async (step) => {
    if (step !== "counter/page") return;
    isOver ??= scene.failOver();
    await isOver;
  };
  expect(await live.service.drainOnce()).toMatchObject({ drained: 0, diverged: 0 });
  expect(isOver).toBeDefined();
  await flow.close();
  await expectDrained(database.pool, live, flow, load);
});

test("freezes that failovers undo, one after the other, do not stop a shard", async () => {
  const { scene, live, load, produce, flow } = await openPair(1);
  const { primary } = scene;
  await produce(60);
  const keys = await primary.keys("*");
  const dumps = await Promise.all(keys.map((key) => primary.dumpBuffer(key)));
  for (let turn = 0; turn < 3; turn++) {
    let reads = 0;
    let takenBack: Promise<unknown> | undefined;
    scene.after = async (step) => {
      if (step !== "counter/page") return;
      reads++;
      await until("all shards are read", () => reads >= SHARDS);
      takenBack ??= Promise.all(keys.map((key, i) => primary.restore(key, 0, dumps[i]!, "REPLACE")));
      await takenBack;
    };
    expect(await live.service.drainOnce()).toMatchObject({ drained: 0, failed: 0, diverged: 0 });
  }
  scene.after = async () => {};
  await expectDrained(database.pool, live, flow, load);
});

test("without replicas a failover that loses drained counts is reported, and the table does not change", async () => {
  const { scene, live, load, produce, flow } = await openPair(0);
  await produce(100);
  await live.service.drainOnce();
  await scene.cutOff();
  await produce(100);
  await live.service.drainOnce();
  const before = await tablesOf(database.pool, live);
  expect(before.ledger).toBe([...load.sent.values()].reduce((sum, count) => sum + count));
  await scene.failOver();
  await produce(50);
  await flow.close(); // gives again
  for (const service of [live.service, live.open(flow)]) {
    expect(await service.drainOnce()).toMatchObject({ drained: 0, diverged: SHARDS });
    expect(await tablesOf(database.pool, live)).toEqual(before);
    await expect(flow.read({ table: live.sink })).rejects.toMatchObject({ code: "DIVERGED" });
  }
  expect(live.reported.diverged).toHaveLength(2 * SHARDS);
});
