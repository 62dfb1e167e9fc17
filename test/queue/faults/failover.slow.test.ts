import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { DelayQueue, redisStore } from "../../../src/entries/index.ts";
import { slotOf } from "../../../src/store/keys.ts";
import { startProxy } from "../../harness/network/proxy.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { startReplicated } from "../../harness/servers/replicas.ts";
import { until } from "../../harness/until.ts";

/** Four producers; `accepted`: ids of what the store said that it has. */
function produce(queue: DelayQueue<unknown>) {
  const accepted: string[] = [];
  let isOver = false;
  const producing = Array.from({ length: 4 }, async (_, producer) => {
    for (let i = 0; !isOver; i++)
      await queue.add(i, { id: `${producer}-${i}` }).then(
        ({ id }) => accepted.push(id),
        () => {},
      );
  });
  const stop = async () => {
    isOver = true;
    await Promise.all(producing);
  };
  return { accepted, stop };
}

async function expectHandled(queue: DelayQueue<unknown>, accepted: readonly string[]): Promise<void> {
  const handled = new Set<string>();
  const worker = queue.process(({ id }) => void handled.add(id), { concurrency: 50, visibility: "2s" });
  await until("nothing is left", async () => {
    const { due, claimed } = await queue.counts();
    return due + claimed === 0;
  });
  await worker.close();
  expect(accepted.filter((id) => !handled.has(id))).toEqual([]);
}

test("the primary dies under producers that require a replica: accepted messages are handled", async () => {
  const { primary, replicas, stop } = await startReplicated(1);
  const proxy = await startProxy(primary.port);
  const store = redisStore(proxy.url, { deadline: 1000 });
  const queue = new DelayQueue(store, "mail", { replicas: 1 });
  const { accepted, stop: stopProducing } = produce(queue);
  await until("some are accepted", () => accepted.length > 300);
  await primary.kill();
  const next = new Redis(replicas[0]!.url);
  await next.call("REPLICAOF", "NO", "ONE");
  proxy.moveTo(replicas[0]!.port);
  await stopProducing();
  await expectHandled(queue, accepted);
  next.disconnect();
  await store.close();
  await proxy.close();
  await stop();
});

test("a primary of a cluster dies under producers that require a replica: accepted messages are handled", async () => {
  const cluster = await startCluster(2, 1);
  const client = new Cluster([...cluster.urls], { clusterRetryStrategy: () => 50 });
  client.on("error", () => {});
  const store = redisStore(client as never, { deadline: 3000 });
  const queue = new DelayQueue(store, "mail", { shards: 4, replicas: 1 });
  const { accepted, stop: stopProducing } = produce(queue);
  await until("some are accepted", () => accepted.length > 300);
  const primary = await cluster.ownerOf(store.keyOf("mail:0"));
  const replica = await cluster.replicaOf(primary);
  await cluster.nodes[primary]!.kill();
  await cluster.failover(replica, "TAKEOVER");
  await until("all shards are there again", async () => (await queue.counts()).due > 0);
  await stopProducing();
  await expectHandled(queue, accepted);
  await store.close();
  client.disconnect();
  await cluster.stop();
});

test("a slot moves back and forth under a queue: nothing is lost, refused or reported", async () => {
  const cluster = await startCluster(2);
  const client = new Cluster([cluster.url]);
  const store = redisStore(client as never, { deadline: 5000 });
  const queue = new DelayQueue<number>(store, "mail");
  const handled: number[] = [];
  const errors: unknown[] = [];
  const worker = queue.process(({ payload }) => void handled.push(payload), { concurrency: 20 });
  worker.on("error", ({ error }) => errors.push(error));
  let isOver = false;
  let added = 0;
  const producing = (async () => {
    for (; !isOver; added++) await queue.add(added, { delay: added % 50 });
  })();
  const key = store.keyOf("mail:0");
  for (let move = 0; move < 4; move++) {
    const before = added;
    await until("there is load", () => added > before + 50);
    await cluster.moveSlot(slotOf(key), 1 - (await cluster.ownerOf(key)));
  }
  isOver = true;
  await producing;
  await until("all are handled", () => new Set(handled).size === added);
  expect(errors).toEqual([]);
  expect(handled).toHaveLength(added);
  await worker.close();
  await store.close();
  client.disconnect();
  await cluster.stop();
});
