import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { Scene } from "./scene.ts";

const LANES = 8;

let server: RedisServer;
let direct: Redis;
let proxies: FaultProxy[];
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  direct = new Redis(server.url);
  proxies = await Promise.all(Array.from({ length: LANES }, () => startProxy(server.port)));
});
beforeEach(() => direct.flushall());
afterAll(async () => {
  direct?.disconnect();
  for (const proxy of proxies ?? []) await proxy.close();
  await server?.stop();
});

async function settled(scene: Scene): Promise<void> {
  expect(await scene.settle(server.url, direct)).toEqual([]);
  await scene.close();
}

const calls: Record<string, (scene: Scene, series: Series) => Promise<unknown>> = {
  record: (scene, series) => scene.record(series),
  recordMany: (scene, series) => scene.record(series, 500),
  stats: (_scene, series) => series.stats(),
  values: (_scene, series) => series.values(),
};

interface Loss {
  lost: "dropReplies" | "dropRequests";
  then: "cut" | "silence";
}
const losses: Loss[] = (["dropReplies", "dropRequests"] as const).flatMap((lost) =>
  (["cut", "silence"] as const).map((then) => ({ lost, then })),
);

describe.each(losses)("$lost ($then), once, twice and three times", ({ lost, then }) => {
  test("while a call of each kind is made", async () => {
    const scenes = Object.entries(calls).map(async ([name, call], lane) => {
      const scene = new Scene(`${name} ${lost} ${then}`);
      const proxy = proxies[lane]!;
      const series = scene.open(proxy.url, { deadline: 750 });
      await scene.record(series, 10);
      for (const count of [1, 2, 3]) {
        proxy[lost](count, { then });
        // Three lost attempts may use the deadline up: then the ledger has a failure, and nothing else.
        await call(scene, series).catch((error) => expect(error).toMatchObject({ transient: true }));
        proxy[lost](0);
        // A connection that was silent for a whole deadline is down until a probe is answered.
        await until("the store is back", () => scene.record(series));
      }
      return scene;
    });
    for (const scene of await Promise.all(scenes)) await settled(scene);
  });
});

describe("a connection is cut inside a frame, at every byte", () => {
  test.each(["dropRequests", "dropReplies"] as const)("%s", async (lost) => {
    const scene = new Scene(`inside ${lost}`);
    const lanes = proxies.map((proxy) => ({ proxy, series: scene.open(proxy.url) }));
    await Promise.all(lanes.map(({ series }) => scene.record(series)));
    const { request, reply } = proxies[0]!.sizes.get("EVALSHA")!;
    const sizeBytes = lost === "dropRequests" ? request : reply;
    expect(sizeBytes).toBeGreaterThanOrEqual(100);
    await Promise.all(
      lanes.map(async ({ proxy, series }, lane) => {
        for (let afterBytes = lane; afterBytes <= sizeBytes; afterBytes += LANES) {
          proxy[lost](1, { afterBytes });
          await scene.record(series);
        }
        proxy[lost](0);
      }),
    );
    expect(scene.ledger.acknowledged.size).toBeGreaterThanOrEqual(sizeBytes);
    await settled(scene);
  });
});

test("packets of one byte, both ways", async () => {
  const scene = new Scene("one byte");
  const proxy = proxies[0]!;
  const series = scene.open(proxy.url);
  await scene.record(series, 3);
  proxy.split(1);
  for (const count of [1, 20, 1]) expect(await scene.record(series, count)).toBe(true);
  expect((await series.stats()).count).toBe(25);
  proxy.split(0);
  await settled(scene);
});

test("SCRIPT FLUSH between any two calls", async () => {
  const scene = new Scene("flushed");
  /** Before each step of the store the server forgets its scripts. */
  const flushing = (store: Store): Store => ({
    ...store,
    run: async (operation, key, input, options) => {
      await direct.script("FLUSH");
      return store.run(operation, key, input, options);
    },
  });
  const [one, two] = [scene.open(server.url, { change: flushing }), scene.open(server.url, { change: flushing })];
  for (let i = 0; i < 12; i++) {
    expect(await scene.record(one, [1, 45_000, 1][i % 3]!)).toBe(true);
    expect((await two.stats()).count).toBe(scene.ledger.acknowledged.size);
    expect(await scene.record(two)).toBe(true);
  }
  expect((await direct.keys("*")).length).toBeGreaterThan(1);
  await settled(scene);
});

describe("a server that stands still", () => {
  test("for 5 s: calls end at their deadline, and events sent during that time count once", async () => {
    const scene = new Scene("stopped");
    const [one, two] = [1, 2].map(() => scene.open(server.url, { deadline: 1000 })) as [Series, Series];
    await Promise.all([scene.record(one, 5), scene.record(two, 5)]);
    const loads = [scene.load(one), scene.load(two)];
    await scene.progress();
    server.pause();
    await new Promise((resolve) => setTimeout(resolve, 5000));
    server.resume();
    expect(scene.ledger.failures.length).toBeGreaterThan(2);
    expect(new Set(scene.ledger.failures.map(({ code }) => code))).toEqual(new Set(["DEADLINE", "UNAVAILABLE"]));
    await scene.progress();
    await Promise.all(loads.map((load) => load.stop()));
    await settled(scene);
  });

  test("for less than the deadline: no call fails", async () => {
    const scene = new Scene("paused");
    const series = scene.open(server.url);
    await scene.record(series, 5);
    await direct.call("CLIENT", "PAUSE", "400", "WRITE");
    for (let i = 0; i < 5; i++) expect(await scene.record(series)).toBe(true);
    await settled(scene);
  });
});
