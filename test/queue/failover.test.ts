import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { DelayQueue, redisStore } from "../../src/index.ts";
import { slotOf } from "../../src/store/slot.ts";
import { startProxy } from "../harness/proxy.ts";
import { startCluster } from "../harness/redis-cluster.ts";
import { startReplicated } from "../harness/replicas.ts";
import { until } from "../harness/until.ts";

test("the primary dies under producers that ask for a replica: what was accepted is handled", async () => {
  const { primary, replicas, stop } = await startReplicated(1);
  const proxy = await startProxy(primary.port);
  const store = redisStore(proxy.url, { deadlineMs: 1000 });
  const queue = new DelayQueue(store, "mail", { replicas: 1 });
  const accepted: string[] = [];
  let isOver = false;
  const producing = Array.from({ length: 4 }, async (_, producer) => {
    for (let i = 0; !isOver; i++)
      await queue.add(i, { id: `${producer}-${i}` }).then(
        ({ id }) => accepted.push(id),
        () => {},
      );
  });
  await until("some are accepted", () => accepted.length > 300);
  await primary.kill();
  const next = new Redis(replicas[0]!.url);
  await next.call("REPLICAOF", "NO", "ONE");
  proxy.moveTo(replicas[0]!.port);
  isOver = true;
  await Promise.all(producing);
  const handled = new Set<string>();
  const worker = queue.process(({ id }) => void handled.add(id), { concurrency: 50 });
  await until(
    "all are handled",
    async () => (await queue.counts()).due === 0 && accepted.every((id) => handled.has(id)),
  );
  await worker.close();
  expect(accepted.filter((id) => !handled.has(id))).toEqual([]);
  next.disconnect();
  await store.close();
  await proxy.close();
  await stop();
});

test("a slot moves to and fro under a queue: nothing is lost, refused or told", async () => {
  const cluster = await startCluster(2);
  const client = new Cluster([cluster.url]);
  const store = redisStore(client as never, { deadlineMs: 5000 });
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
