import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  Counters,
  DelayQueue,
  FleetMetrics,
  Limiter,
  Lock,
  redisStore,
  Series,
  slidingWindow,
} from "../../src/entries/index.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { startRedis } from "../harness/servers/redis-server.ts";

test("the ACL rules of the README are sufficient for every structure", async () => {
  const server = await startRedis({ tcp: true });
  const rules = /ACL SETUSER app[\s\S]*?(?=```)/.exec(readFileSync("README.md", "utf8"))![0].trim().split(/\s+/);
  const raw = new RespConnection(server.url);
  expect(await raw.send([rules])).toEqual([{ status: "OK" }]);
  const store = redisStore(server.url.replace("redis://", "redis://app:password@"));
  try {
    const series = new Series(store, "s");
    await series.record(1);
    expect((await series.stats({ span: "1m" })).count).toBe(1);
    const limiter = new Limiter(store, [slidingWindow({ limit: 1, span: "1m" })], { name: "l" });
    expect((await limiter.take("a")).allowed).toBe(true);
    const lock = new Lock(store, "k");
    const held = await lock.tryLock();
    const waiting = lock.tryLock({ wait: "5s" });
    expect(await held!.release()).toBe(true);
    expect(await (await waiting)!.release()).toBe(true);
    const counters = new Counters(store, "c", { dimensions: ["a"], shards: 1 });
    await counters.add({ a: "1" });
    expect((await counters.read()).length).toBe(1);
    const queue = new DelayQueue(store, "q");
    const done = new Promise((resolve) => {
      const worker = queue.process(() => {});
      worker.on("completed", async () => resolve(await worker.close()));
    });
    await queue.add("hello");
    await done;
    const fleet = new FleetMetrics(store, "f");
    await fleet.flush();
    await fleet.close();
    const refused = (await raw.send([["ACL", "LOG"]]))[0];
    expect(refused).toEqual([]);
  } finally {
    raw.close();
    await store.close();
    await server.stop();
  }
});
