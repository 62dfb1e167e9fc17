import { afterAll, beforeAll, expect, test } from "vitest";
import { FleetMetrics } from "../../src/metrics/fleet/fleet-metrics.ts";
import type { Store } from "../../src/store/contract.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

// biome-ignore lint/suspicious/noThenProperty: what then becomes of the connection
const silently = { then: "silence" } as const;

let server: RedisServer;
let proxy: FaultProxy;
const stores: Store[] = [];
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await proxy?.close();
  await server?.stop();
});

function fleetOf(name: string, url: string, flush: number, deadlineMs?: number): FleetMetrics {
  const store = redisStore(url, { deadline: deadlineMs, registry: false });
  stores.push(store);
  return new FleetMetrics(store, name, { interval: "1h", flush });
}

test("a flush without an answer is sent again, and counts once", async () => {
  const fleet = fleetOf("lost", proxy.url, 3_600_000, 300);
  const metric = fleet.metric("pay");
  let counted = 0;
  let failures = 0;
  for (let round = 0; round < 40; round++) {
    metric.addSuccess(round);
    counted += round;
    if (round % 4 === 1) proxy.dropReplies(1);
    if (round % 4 === 3) proxy.dropReplies(3, silently);
    await fleet.flush().catch(() => failures++);
    proxy.dropReplies(0);
    if (round % 4 === 3) proxy.cut();
  }
  await until("it is flushed", () => fleet.flush().then(() => true));
  expect(failures).toBeGreaterThan(0);
  expect((await fleetOf("lost", server.url, 1000).read("pay")).success()).toBe(counted);
});

test("while the server is away counting continues; an error is emitted, and all counts are sent later", async () => {
  const fleet = fleetOf("away", proxy.url, 20, 1000);
  const errors: unknown[] = [];
  fleet.on("error", ({ error }) => errors.push(error));
  const metric = fleet.metric("pay");
  metric.addSuccess();
  await until("it is flushed", () => fleet.flush().then(() => true));
  proxy.refuse(true);
  proxy.cut();
  for (let i = 0; i < 1000; i++) metric.recordSuccess(i);
  await until("it is reported", () => errors.length > 1);
  expect(errors[0]).toMatchObject({ code: expect.stringMatching(/DEADLINE|UNAVAILABLE/) });
  proxy.refuse(false);
  const reader = fleetOf("away", server.url, 1000);
  await until("all is there", async () => (await reader.read("pay")).success() === 1001);
  expect((await reader.read("pay")).maxLatencyMs()).toBe(999);
});

test("counts are sent without a call, and a process without counts sends nothing", async () => {
  const fleet = fleetOf("idle", proxy.url, 10);
  fleet.metric("pay").addSuccess(7);
  const reader = fleetOf("idle", server.url, 1000);
  await until("it is sent", async () => (await reader.read("pay")).success() === 7);
  await fleet.flush(); // its answer has come, so it is not sent again
  const before = proxy.handedOn.get("EVALSHA");
  await new Promise((resolve) => setTimeout(resolve, 100)); // ten times the time between two sendings
  expect(proxy.handedOn.get("EVALSHA")).toBe(before);
});
