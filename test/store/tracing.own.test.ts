import { tracingChannel } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixedWindow, Limiter } from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { clients, clusterClients, storeOn } from "./contract/clients.ts";

let server: RedisServer;
let cluster: RedisCluster;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startCluster(1)]);
});
afterAll(() => Promise.all([server?.stop(), cluster?.stop()]));

const CALLS = 10;

test.each([
  ["ioredis 6", () => clients["ioredis 6"](server.url), "ioredis:command"],
  ["ioredis 5", () => clients["ioredis 5"](server.url), "ioredis:command"],
  ["a cluster of ioredis 6", () => clusterClients["ioredis 6"](cluster.urls), "ioredis:command"],
  ["node-redis 6", () => clients["node-redis 6"](server.url), "node-redis:command"],
] as const)("the tracing channel of %s shows each script call, once", async (name, open, channel) => {
  const given = open();
  atEnd(() => given.end());
  const store = storeOn(given, { registry: false, onWarning: null });
  const limiter = new Limiter(store, [fixedWindow({ limit: 1e6, span: "1h" })], { name });
  // The script is loaded, and nobody listens yet.
  await limiter.take("a");
  const began: string[] = [];
  let ended = 0;
  const subscribers = {
    start: (message: unknown) => void began.push(String((message as { command: unknown }).command).toLowerCase()),
    asyncEnd: () => void ended++,
    ...{ end() {}, asyncStart() {}, error() {} },
  };
  tracingChannel(channel).subscribe(subscribers);
  try {
    for (let i = 0; i < CALLS; i++) await limiter.take("a");
    await until("all have ended", () => ended === began.length);
    expect(began.filter((command) => command === "evalsha")).toHaveLength(CALLS);
  } finally {
    tracingChannel(channel).unsubscribe(subscribers);
  }
  await limiter.take("a");
  expect(began.filter((command) => command === "evalsha")).toHaveLength(CALLS);
  await store.close();
});
