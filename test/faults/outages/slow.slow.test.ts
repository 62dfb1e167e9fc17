import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { Scene } from "../scene.ts";

let server: RedisServer;
let direct: Redis;
let proxy: FaultProxy;
beforeEach(async () => {
  server = await startRedis({ tcp: true });
  direct = new Redis(server.url);
  proxy = await startProxy(server.port);
});
afterEach(async () => {
  direct?.disconnect();
  await proxy?.close();
  await server?.stop();
});

test("a slow server does not block later calls: each fails by its deadline, and the first after it succeeds", async () => {
  const scene = new Scene("slow");
  const series = scene.open(proxy.url, { deadline: 300 });
  await until("it is connected", () => scene.record(series, 3));
  for (let round = 0; round < 3; round++) {
    proxy.delay(60_000);
    // They wait at most for the append in flight and their own: none of them for the server.
    const calls = await Promise.all([scene.record(series), scene.record(series, 5), scene.record(series)]);
    expect(calls).toEqual([false, false, false]);
    proxy.delay(0);
    await until("it goes on", () => scene.record(series));
  }
  expect(scene.ledger.failures.map(({ code }) => code)).toContain("DEADLINE");
  expect(await scene.settle(server.url, direct)).toEqual([]);
  await scene.close();
});

test("calls queued behind a failed one fail with it, so none waits for several deadlines", async () => {
  const scene = new Scene("backlog", { maxPendingBytes: 32 << 20 });
  const attempts: string[] = [];
  const series = scene.open(server.url, {
    deadline: 500, // the server is paused
    registry: false,
    change: (store) => ({
      ...store,
      run: (operation, key, input, options) => {
        attempts.push(operation.name);
        return store.run(operation, key, input, options);
      },
    }),
  });
  await until("it is connected", () => scene.record(series));
  server.pause();
  attempts.length = 0;
  // A dozen appends' worth, of which one is sent.
  const large = series.recordMany(new Float64Array(12 * 130_000));
  const [small, asked] = [series.record(7), series.stats()];
  await expect(large).rejects.toMatchObject({ transient: true });
  await expect(small).rejects.toMatchObject({ transient: true, applied: "no" });
  await expect(asked).rejects.toMatchObject({ transient: true, applied: "no" });
  expect(attempts).toEqual(["journal/append-and-read-outlines"]);
  server.resume();
  await until("it goes on", () => series.record(1).then(() => true));
  expect([...(await series.values({ span: "10m" }))]).not.toContain(7);
  await scene.close();
});
