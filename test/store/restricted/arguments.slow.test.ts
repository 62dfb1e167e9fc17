import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  Breaker,
  Counters,
  DelayQueue,
  FleetMetrics,
  fixedWindow,
  Limiter,
  Lock,
  LockedWindow,
  Series,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { MultiSemaphore, Semaphore } from "../../../src/entries/structures/semaphore.ts";
import type { Store } from "../../../src/store/contract.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type RestrictedServer, startRestricted } from "../../harness/servers/restricted.ts";
import { RESTRICTIONS } from "../../harness/servers/restrictions.ts";
import { clients, storeOn } from "../contract/clients.ts";

const MOST = 3999;
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

let redis: RedisServer;
let server: RestrictedServer;
let store: Store;
let end: () => Promise<unknown>;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
  server = await startRestricted(redis.port, RESTRICTIONS["a key for each script, 3 999 arguments"]);
  const given = clients["ioredis 6"](server.url);
  // The 3000 permits cost the server 3 s of CPU, because each step reads all holders.
  store = storeOn(given, { deadline: 240_000 });
  end = async () => {
    await store.close();
    given.end();
  };
});
afterAll(async () => {
  await end?.();
  await server?.stop();
  await redis?.stop();
});
beforeEach(() => server.refused.clear());

test("the server of these tests refuses larger commands, in scripts too", async () => {
  const own = await startRestricted(redis.port, RESTRICTIONS["a key for each script, 3 999 arguments"]);
  const raw = new RespConnection(own.url);
  const words = (count: number) => many(count, String);
  const inScript = "return redis.call('DEL', unpack(ARGV))";
  const replies = await raw.send([
    ["DEL", ...words(MOST - 1)],
    ["DEL", ...words(MOST)],
    ["EVAL", inScript, "1", "k", ...words(MOST - 4)],
    ["EVAL", "return redis.call('DEL', 'a', unpack(redis.call('LRANGE', 'l', 0, -1)))", "1", "l"],
    ["EVAL", "return 1", "0"],
  ]);
  raw.close();
  await own.stop();
  expect(replies.map((reply) => (typeof reply === "number" ? reply : (reply as { error: string }).error))).toEqual([
    0,
    "ERR max number of arguments exceeded",
    0,
    0,
    "ERR scripts need at least one key",
  ]);
});

const BATCHES: Record<string, () => Promise<void>> = {
  async "a limiter: 5000 ids in one turn"() {
    const limiter = new Limiter(
      store,
      [fixedWindow({ limit: 5, span: "1h" }), slidingWindow({ limit: 9, span: "1h" })],
      {
        name: "ids",
      },
    );
    for (let turn = 1; turn <= 2; turn++)
      for (const { remaining } of await Promise.all(many(5000, (i) => limiter.take(`${i}`))))
        expect(remaining).toBe(5 - turn);
  },
  async "a limiter: takeAll of 3000"() {
    const limiter = new Limiter(store, [fixedWindow({ limit: 5, span: "1h" })], { name: "all" });
    const requests = many(3001, (i) => ({ limiter, id: `${i}` }));
    await expect(Limiter.takeAll(requests, { tag: "t" })).rejects.toThrow("at most 3000 policies together");
    requests.pop();
    for (let turn = 1; turn <= 2; turn++)
      expect(await Limiter.takeAll(requests, { tag: "t" })).toMatchObject({ allowed: true, remaining: 5 - turn });
  },
  async "counters: 6000 rows in one shard"() {
    const counters = new Counters(store, "rows", {
      dimensions: ["a"],
      shards: 1,
      mirror: { prefix: "m:", keep: "1h" },
    });
    await Promise.all(many(6000, (i) => counters.add({ a: `${i}` })));
    expect((await counters.read()).reduce((sum, { count }) => sum + count, 0)).toBe(6000);
  },
  async "a series: 300 000 values, and 300 series"() {
    const series = new Series(store, "big");
    await series.recordMany(many(300_000, (i) => i));
    expect((await series.stats({ span: "1h" })).count).toBe(300_000);
    const small = many(300, (i) => new Series(store, `small${i}`));
    await Promise.all(small.map((each) => each.record(1)));
    expect((await Series.stats(small, { span: "1h" })).count).toBe(300);
  },
  async "a queue: 5000 messages in one shard, claimed, dead and redriven"() {
    const queue = new DelayQueue<number>(store, "queue", { shards: 1, attempts: 1 });
    await Promise.all(many(5000, (i) => queue.add(i)));
    let failed = 0;
    const bad = queue.process(() => Promise.reject(new Error("meant")), { concurrency: 1000, prefetch: 1000 });
    await new Promise<void>((resolve) => bad.on("dead", () => ++failed === 5000 && resolve()));
    await bad.close();
    expect((await queue.dead.list({ limit: 1000 })).length).toBe(1000);
    const ids = (await queue.dead.list({ limit: 1000 })).map(({ id }) => id);
    expect(await queue.dead.redrive({ ids })).toBe(1000);
  },
  async "a fleet of as many names and buckets as there may be"() {
    const fleet = new FleetMetrics(store, "fleet", { interval: "1h", sampleCount: 600, maxNames: 1000 });
    for (let i = 0; i < 1000; i++) fleet.metric(`m${i}`).recordSuccess(1);
    await fleet.flush();
    expect((await fleet.readAll()).size).toBeGreaterThanOrEqual(1000);
    await fleet.close();
  },
  async "locks: 3000 in one turn, and 300 at once"() {
    const held = await Promise.all(many(3000, (i) => new Lock(store, `l${i}`).tryLock()));
    expect(await Promise.all(held.map((each) => each!.release()))).not.toContain(false);
    const set = await Lock.all(many(300, (i) => new Lock(store, `s${i}`))).tryLock();
    await set!.release();
  },
  async "semaphores: 1000 permits at once, and 3000 one by one"() {
    const permits = await new MultiSemaphore(store, "m", { limit: 5000 }).tryAcquire(1000);
    await permits!.release();
    const each = new Semaphore(store, "one", { limit: 5000 });
    const held = await Promise.all(many(3000, () => each.tryAcquire()));
    expect(held).not.toContain(null);
    await Promise.all(held.map((one) => one!.release()));
  },
  async "300 breakers, and one with 20 000 calls in one turn"() {
    const options = { span: "1m", failures: 1e6, minimumCalls: 2, cooldown: 50 } as const;
    const breakers = many(300, (i) => new Breaker(store, { ...options, name: `b${i}` }));
    await Promise.all(breakers.map((each) => each.run(async () => 1)));
    await Promise.all(many(20_000, () => breakers[0]!.run(async () => 1)));
    await Promise.all(breakers.map((each) => each.flush()));
    await Promise.all(breakers.map((each) => each.close()));
  },
  async "300 windows under locks"() {
    const windows = many(300, (i) => new LockedWindow(store, `w${i}`, { span: "1m" }));
    for (const { count } of await Promise.all(windows.map((each) => each.addAndGetStats(1)))) expect(count).toBe(1);
  },
};

test.each(Object.entries(BATCHES))("%s", async (_name, run) => {
  await run();
  expect([...server.refused]).toEqual([]);
  expect(server.mostWords()).toBeLessThanOrEqual(MOST);
});
