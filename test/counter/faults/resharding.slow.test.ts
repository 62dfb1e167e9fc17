import { Cluster } from "ioredis";
import { expect, test } from "vitest";
import { shardKeys } from "../../../src/counters/counter/format/layout.ts";
import { slotOf } from "../../../src/store/keys.ts";
import { atEnd } from "../../harness/ends.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { until } from "../../harness/until.ts";
import { Table } from "../simulator/table.ts";
import { Load } from "./load.ts";
import { drainAll } from "./model-drain.ts";
import { open, SHARDS } from "./stage.ts";

test("all shards move back and forth under adds, reads and a drain: totals are exact, without an error", async () => {
  const cluster = await startCluster(2);
  atEnd(() => cluster.stop());
  const client = new Cluster([cluster.url]);
  atEnd(() => client.disconnect());
  const { store, flow } = open(client as never, { deadline: 20_000 });
  const load = new Load();
  const table = new Table();
  load.start(flow, 20);
  let isOver = false;
  let drained = 0n;
  let reads = 0;
  const drain = (async () => {
    while (!isOver) drained += await drainAll(store, SHARDS, table);
  })();
  const read = (async () => {
    for (; !isOver; reads++) {
      const least = [...load.acknowledged.values()].reduce((sum, count) => sum + count, 0);
      const sum = (await flow.read({ table })).reduce((total, { count }) => total + count, 0);
      expect(sum).toBeGreaterThanOrEqual(least);
    }
  })();
  for (let turn = 0; turn < 4; turn++)
    for (const key of shardKeys(store, "flow", SHARDS)) {
      const slot = slotOf(key);
      await cluster.moveSlot(slot, (await cluster.ownerOf(key)) === 0 ? 1 : 0);
      const before = load.acknowledgedTotal;
      await until("it goes on", () => load.acknowledgedTotal > before + 50);
    }
  await load.stop();
  isOver = true;
  await Promise.all([drain, read]);
  expect(load.errors).toEqual([]);
  expect(drained).toBeGreaterThan(0n);
  expect(reads).toBeGreaterThan(5);
  await load.check(flow, table);
  await flow.close();
});
