import {
  Breaker,
  Counters,
  DelayQueue,
  FleetMetrics,
  Limiter,
  Lock,
  Series,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { announce } from "../../../src/store/registry/steps/announce.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { command, type Ended } from "../command.ts";

/** Structures of each kind, in a Redis whose registry lists them. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

export async function openStage() {
  const server = await startRedis({ tcp: true });
  const clock = { nowMs: 0 };
  const store = redisStore(server.url, { monotonic: () => clock.nowMs });
  const policies = [slidingWindow({ limit: 5, span: "1m", name: "per-minute" })];
  const made = {
    latency: new Series(store, "api:latency", { retention: "2h", values: "float64" }),
    limiter: new Limiter(store, policies, { name: "api" }),
    byId: new Limiter(store, () => policies, { name: "by id" }),
    lock: new Lock(store, "nightly"),
    queue: new DelayQueue(store, "sms", { shards: 2 }),
    breaker: new Breaker(store, { name: "payments", span: "10s", failureRatio: 0.5, minimumCalls: 2 }),
    counters: new Counters(store, "views", { dimensions: ["page"], shards: 4 }),
    fleet: new FleetMetrics(store, "fleet", { flush: "10s" }),
  };
  clock.nowMs += 5000;
  await made.queue.counts();
  const run = (...args: string[]): Promise<Ended> => command([...args, "--redis", server.url]);
  await until("the registry lists the structures", async () => (await run("ls", "sms")).stdout.includes("DelayQueue"));
  return {
    ...made,
    server,
    store,
    run,
    /** As another process that announces a structure. */
    async announce(kind: string, name: string, shared: object, process = "web-2:17:ab") {
      const structures = [{ field: `${kind} ${JSON.stringify(name)}`, shared: JSON.stringify(shared), settings: "{}" }];
      await store.run(announce, store.keyOf("registry"), { process, version: "0.0.9", record: "{}", structures });
    },
    async close() {
      await made.latency.close();
      await made.fleet.close();
      await made.counters.close();
      await store.close();
      await server.stop();
    },
  };
}
