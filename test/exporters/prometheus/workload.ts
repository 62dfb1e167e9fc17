import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import {
  Breaker,
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  fixedWindow,
  Limiter,
  Lock,
  prometheusText,
  redisStore,
  registerAll,
  Series,
} from "../../../src/entries/index.ts";
import { sqliteSink } from "../../../src/entries/sql.ts";
import { Sqlite } from "../../drain/sql/clients.ts";

/**
 * A process with one structure of each kind. GET /work does some of everything, /metrics is for Prometheus, and /numbers
 * answers with what oriel's own calls say. Prints its port.
 */
const [url = "", process = ""] = globalThis.process.argv.slice(2);
const store = redisStore(url);
const metrics = registerAll(store, { series: { span: "30m" } });

const policies = [
  fixedWindow({ limit: 3, span: "1h", name: "hourly" }),
  fixedWindow({ limit: 1, span: "1h", name: "trial", shadow: true }),
];
const limiter = new Limiter(store, policies, { name: "api" });
const series = new Series(store, "latency");
const queue = new DelayQueue(store, "mails");
const worker = queue.process(
  (job) => {
    if (job.payload === "bad") throw new Error("bad");
  },
  { attempts: 1 },
);
const breaker = new Breaker(store, { name: "payments", span: "10m", failures: 3, cooldown: "10m" });
const fleet = new FleetMetrics(store, "shop", { interval: "30m", percentiles: true });
const counters = new Counters(store, "visits", { dimensions: ["site"], buckets: ["minute"], shards: 2 });
const drain = new DrainService({
  counters,
  sink: sqliteSink(new Sqlite() as never),
  lock: new Lock(store, "drain"),
  every: 500,
});
await drain.start();

const own = { allowed: 0, denied: 0, shadow: 0, recorded: 0, sum: 0, calls: 0, handled: 0 };
worker.on("completed", () => own.handled++);
let turn = 0;

async function work(): Promise<void> {
  turn++;
  for (let i = 0; i < 5; i++) {
    const { allowed, policies: each } = await limiter.take(`${process}-${turn}`);
    own[allowed ? "allowed" : "denied"]++;
    if (each.some((policy) => policy.shadow && !policy.allowed)) own.shadow++;
    const value = 10 * i + turn;
    await series.record(value);
    own.recorded++;
    own.sum += value;
    fleet.metric("pay").recordSuccess(value);
    own.calls++;
  }
  await queue.add("now");
  await queue.add("later", { delay: "1h" });
  if (turn === 1) await queue.add("bad");
  await breaker.run(() => Promise.reject(new Error("down"))).catch(() => {});
  await breaker.flush();
  await counters.add({ site: "a" });
  await fleet.flush();
}

async function numbers() {
  const [counts, stats] = [await queue.counts(), await series.stats({ percentiles: [50, 90, 99] })];
  const calls = (await fleet.read("pay")).success();
  return {
    own,
    counts,
    stats: { ...stats, percentiles: { ...stats.percentiles } },
    calls,
    state: breaker.stats().state,
  };
}

const server = createServer(async (request, response) => {
  const answer = async () => {
    if (request.url === "/metrics") return prometheusText(metrics);
    if (request.url === "/work") await work();
    return JSON.stringify(await numbers());
  };
  await answer().then(
    (text) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(text),
    (error) => response.writeHead(500).end(String(error?.stack)),
  );
});
server.listen(0, "127.0.0.1", () => console.info((server.address() as AddressInfo).port));
