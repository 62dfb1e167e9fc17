import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { freePort, type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { Scene } from "../scene.ts";

const LOCAL = { degraded: true, degradedBy: "local" };
const local = { onStoreError: "local" } as const;

let server: RedisServer;
let direct: Redis;
let proxy: FaultProxy;
beforeEach(async () => {
  server = await startRedis({ tcp: true });
  direct = connect();
  proxy = await startProxy(server.port);
});
afterEach(async () => {
  direct?.disconnect();
  await proxy?.close();
  await server?.stop();
});

function connect(): Redis {
  const client = new Redis(server.url, { retryStrategy: () => 50 });
  client.on("error", () => {});
  return client;
}

/** Waits until the store answers again, and has what was kept. */
async function whole(series: Series): Promise<void> {
  await until("the store is back and has all", async () => !(await series.stats()).degraded);
}

async function settled(scene: Scene): Promise<void> {
  expect(await scene.settle(server.url, direct)).toEqual([]);
  await scene.close();
}

describe("a server that is unreachable when the store is created", () => {
  test('"throw": the constructor never throws; each call rejects by its deadline as not applied, until the server is up', async () => {
    const port = await freePort();
    const store = redisStore(`redis://127.0.0.1:${port}`, { deadline: 300 });
    const series = new Series(store, "early");
    const calls = [series.record(1), series.stats(), series.recordAndGet(2), series.values(), series.delete()];
    for (const result of await Promise.allSettled<unknown>(calls))
      expect(result).toMatchObject({ reason: { code: "UNAVAILABLE", transient: true, applied: "no" } });
    const late = await startRedis({ tcp: port });
    await until("it is back", () => series.record(3).then(() => true));
    expect([...(await series.values())].filter((value) => value !== 3)).toEqual([]);
    await store.close();
    await late.stop();
  });

  test('"local": this process\'s own events answer, and the store does once it is up', async () => {
    const port = await freePort();
    const store = redisStore(`redis://127.0.0.1:${port}`, { deadline: 300 });
    const series = new Series(store, "early", { ...local, values: "float64" });
    expect(await series.record(1)).toEqual(LOCAL);
    expect(await series.recordAndGet(2)).toMatchObject({ ...LOCAL, count: 2, sum: 3 });
    const late = await startRedis({ tcp: port });
    await until("it is back", async () => !(await series.record(3)).degraded);
    expect((await series.stats({ span: 1 })).from).toBeGreaterThan(0);
    await store.close();
    await late.stop();
  });
});

describe("a server that stands still", () => {
  test('"local": only the first call waits for its deadline; after the outage each event is there once', async () => {
    const scene = new Scene("still", local);
    const [one, two] = [scene.open(server.url, { deadline: 2000 }), scene.open(server.url, { deadline: 2000 })];
    for (const series of [one, two]) expect(await scene.record(series, 10)).toBe(true);
    expect((await one.stats()).count).toBe(20);
    server.pause();
    // In flight when the server stops: nobody knows whether it is applied.
    expect(await one.recordAndGet(scene.ledger.draw()[0]!)).toMatchObject({ ...LOCAL, count: 21 });
    for (let i = 0; i < 1000; i++) {
      expect(await scene.record(one)).toBe(false);
      expect(await one.stats({ percentiles: [] })).toMatchObject({ ...LOCAL, count: 22 + i });
    }
    expect(await two.record(scene.ledger.draw()[0]!)).toEqual(LOCAL);
    server.resume();
    await until("it is back", async () => scene.record(one));
    await until("it is back", async () => scene.record(two));
    // Events that may have been applied keep the windows that hold them degraded. All certainly kept events are there.
    await until("all kept events are sent", async () => {
      const found = new Set(await scene.open(server.url).values());
      return [...scene.ledger.kept].every((value) => found.has(value));
    });
    expect((await one.stats()).degradedBy).toBe("local");
    const found = [...(await one.values())];
    expect(new Set(found).size).toBe(found.length);
    await scene.close();
  });

  test('"throw": waiting events are bounded, and calls succeed when the server continues', async () => {
    const scene = new Scene("bounded", { maxPendingBytes: 64 << 10 });
    const series = scene.open(server.url, { deadline: 60_000 });
    await scene.record(series, 1);
    server.pause();
    const waiting = Array.from({ length: 7 }, () => scene.record(series, 1000));
    const refused = await series.recordMany(scene.ledger.draw(2000)).catch((error) => error);
    expect(refused).toMatchObject({ code: "OVERLOADED", transient: true, applied: "no" });
    server.resume();
    expect(await Promise.all(waiting)).toEqual(Array(7).fill(true));
    expect(await scene.record(series, 1000)).toBe(true);
    await settled(scene);
  });
});

test('a killed server comes back empty: "local" continues, and sends its buffered events', async () => {
  const scene = new Scene("killed", local);
  const series = scene.open(server.url, { deadline: 2000 });
  expect(await scene.record(series, 5)).toBe(true);
  await series.stats();
  const { port } = server;
  await server.kill();
  expect(await scene.record(series, 5)).toBe(false);
  expect(await series.stats()).toMatchObject({ ...LOCAL, count: 10 });
  server = await startRedis({ tcp: port });
  const found = await until("the kept events are sent", async () => {
    const values = new Set(await series.values());
    return [...scene.ledger.kept].every((value) => values.has(value));
  });
  expect(found).toBeUndefined();
  // What Redis lost is lost; nobody here deleted it.
  expect((await series.values()).length).toBe(5);
  await scene.close();
});

test.each([1, 2, 3, 4])(
  "random cut, refused and slow connections (seed %d): stored events are there once, buffered ones at most once",
  async (seed) => {
    const scene = new Scene(`seed ${seed}`, local);
    const series = Array.from({ length: 3 }, () => scene.open(proxy.url, { deadline: 300 }));
    for (const one of series) await until("it is connected", () => scene.record(one));
    const loads = series.map((one) => scene.load(one));
    let state = seed * 7919;
    const draw = (most: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * most);
    };
    const troubles = [
      () => proxy.cut(),
      () => proxy.dropReplies(1 + draw(2)),
      () => proxy.dropRequests(1 + draw(2)),
      async () => {
        proxy.refuse(true);
        proxy.cut();
        await until(
          "it was noticed",
          (
            (kept) => () =>
              scene.ledger.kept.size > kept
          )(scene.ledger.kept.size),
        );
        proxy.refuse(false);
      },
      async () => {
        proxy.delay(60_000);
        await until(
          "it was noticed",
          (
            (kept) => () =>
              scene.ledger.kept.size > kept
          )(scene.ledger.kept.size),
        );
        proxy.delay(0);
      },
    ];
    for (let i = 0; i < 10; i++) {
      await troubles[draw(troubles.length)]!();
      await scene.progress(30);
    }
    await troubles[3]!();
    await Promise.all(loads.map((load) => load.stop()));
    for (const one of series) await until("it is back", async () => scene.record(one));
    // A window that begins now reaches nothing that was kept.
    const beginMs = (await series[0]!.stats()).to;
    await until("time goes on", async () => (await series[0]!.stats()).to > beginMs + 5);
    for (const one of series)
      await until("all kept events are sent", async () => !(await one.stats({ span: 1 })).degraded);
    const cold = scene.open(server.url);
    const found = await cold.values();
    expect(scene.ledger.settle(found)).toEqual([]);
    expect(scene.ledger.kept.size).toBeGreaterThan(0);
    const { count, sum, percentiles } = await cold.stats();
    for (const one of series) {
      const reported = await one.stats();
      expect({ count: reported.count, sum: reported.sum, percentiles: reported.percentiles }).toEqual({
        count,
        sum,
        percentiles,
      });
    }
    expect(scene.ledger.failures).toEqual([]);
    await scene.close();
  },
);

test('under "local" each copy agrees with a cold reader once all buffered events are sent', async () => {
  const scene = new Scene("agree", local);
  const series = scene.open(proxy.url, { deadline: 300 });
  await until("it is connected", () => scene.record(series, 100));
  for (let round = 0; round < 5; round++) {
    await series.stats();
    proxy.refuse(true);
    proxy.cut();
    await until("away", async () => (await series.stats()).degraded);
    for (let i = 0; i < 20; i++) expect(await scene.record(series, 7)).toBe(false);
    expect((await series.stats()).count).toBe(scene.ledger.acknowledged.size + scene.ledger.kept.size);
    proxy.refuse(false);
    await whole(series);
  }
  expect((await series.values()).length).toBe(100 + 5 * 140);
  await settled(scene);
});
