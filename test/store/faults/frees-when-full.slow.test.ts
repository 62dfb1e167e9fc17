import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  Counters,
  DelayQueue,
  DrainService,
  Lock,
  redisStore,
  Series,
  type Store,
} from "../../../src/entries/index.ts";
import { TableSink } from "../../fuzz/table-sink.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

let server: RedisServer;
let raw: Redis;
beforeAll(async () => {
  server = await startRedis({ args: ["--maxmemory-policy", "noeviction"] });
  raw = new Redis(server.url);
});
afterAll(async () => {
  raw.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await raw.config("SET", "maxmemory", "0");
  await raw.flushall();
});

interface Prepared {
  refused: () => Promise<unknown>;
  freed: () => Promise<void>;
}

/** Makes something while there is room; then what is refused without, and what must be done all the same. */
const ROOMS: Record<string, (store: Store, name: string) => Promise<Prepared>> = {
  async "a queue ends, moves and pauses what it has"(store, name) {
    const queue = new DelayQueue<number>(store, name, { shards: 1 });
    await queue.addBulk([1, 2, 3, 4, 5, 6].map((n) => ({ payload: n, id: `${n}`, attempts: n === 3 ? 1 : 5 })));
    const claimed = await queue.claim({ limit: 4 });
    return {
      refused: () => queue.add(7),
      async freed() {
        expect(await queue.ack(claimed[0]!)).toBe(true);
        expect(await queue.nack(claimed[1]!, { delay: 0 })).toBe(true);
        expect(await queue.nack(claimed[2]!, { error: new Error("no") })).toBe(true);
        expect(await queue.extend(claimed[3]!, "1m")).toBe(true);
        expect(await queue.cancel("5")).toBe(true);
        expect(await queue.claim({ limit: 1 })).toHaveLength(1);
        await queue.pause();
        await queue.resume();
        expect((await queue.dead.list()).map(({ id }) => id)).toEqual(["3"]);
        expect(await queue.counts()).toMatchObject({ due: 1, claimed: 2, dead: 1 });
      },
    };
  },
  async "a worker processes what waits"(store, name) {
    const queue = new DelayQueue<number>(store, name, { shards: 1 });
    await queue.addBulk([1, 2, 3].map((payload) => ({ payload })));
    return {
      refused: () => queue.add(7),
      async freed() {
        const done: string[] = [];
        const worker = queue.process(() => {}, { concurrency: 1 });
        await new Promise<void>((resolve) => {
          worker.on("completed", ({ id }) => {
            if (done.push(id) === 3) resolve();
          });
        });
        await worker.close();
        expect(await queue.counts()).toMatchObject({ due: 0, claimed: 0, dead: 0 });
      },
    };
  },
  async "a counter is read and drained"(store, name) {
    const counters = new Counters(store, name, { dimensions: ["a"], shards: 2 });
    const sink = new TableSink();
    const drain = new DrainService({ counters, sink });
    await Promise.all(["x", "y", "z"].map((a) => counters.add({ a })));
    const total = async () =>
      (await counters.read({ bucket: "day", table: sink })).reduce((sum, { count }) => sum + count, 0);
    return {
      refused: () => counters.add({ a: "more" }),
      async freed() {
        expect(await total()).toBe(3);
        expect(await drain.drainOnce()).toMatchObject({ failed: 0, events: 3n });
        expect(await total()).toBe(3);
        await drain.stop();
      },
    };
  },
  async "a series is deleted"(store, name) {
    const series = new Series(store, name);
    await series.recordMany([1, 2, 3]);
    return {
      refused: () => series.record(4),
      async freed() {
        await series.delete();
        expect((await series.stats()).count).toBe(0);
      },
    };
  },
  async "a lock is released"(store, name) {
    const lock = new Lock(store, name);
    const held = await lock.tryLock();
    return {
      refused: () => new Lock(store, `${name} other`).tryLock(),
      async freed() {
        expect(await held!.release()).toBe(true);
      },
    };
  },
};

describe.each(["eval", "functions"] as const)("on a full server, by %s,", (scripting) => {
  test.each(Object.entries(ROOMS))("%s", async (_, prepare) => {
    const store = redisStore(server.url, { scripting, deadline: 2000, onWarning: null });
    // A full server takes no new text: the steps are known to it from before.
    await (await prepare(store, "before")).freed();
    const { refused, freed } = await prepare(store, "now");
    await raw.config("SET", "maxmemory", "1");
    await expect(refused()).rejects.toMatchObject({ code: "OVERLOADED", applied: "no" });
    await freed();
    await store.close();
  });
});
