// The structures that all processes of the shop share.
import {
  Breaker,
  Counters,
  DelayQueue,
  FleetMetrics,
  Limiter,
  Lock,
  localDecisions,
  redisStore,
  Series,
  slidingWindow,
} from "oriel";

export const store = redisStore(process.env.REDIS_URL ?? "redis://127.0.0.1:6379");
store.on("error", ({ error }) => console.error(error.message));
store.on("down", ({ address, reason }) => console.error(`Redis ${address} is away: ${reason}`));

/** 100 requests a minute from one address. While Redis is away, the processes share them. */
export const limiter = new Limiter(store, [slidingWindow({ limit: 100, span: "1m" })], {
  name: "shop",
  onStoreError: localDecisions(),
});
export const latency = new Series(store, "shop:latency", { retention: "1h", onStoreError: "local" });
export const sales = new Counters(store, "sales", { dimensions: ["product"] });
export const mails = new DelayQueue<{ product: string }>(store, "mails");
export const payments = new Breaker(store, { name: "payments", span: "10s", failureRatio: 0.5, timeout: "2s" });
export const calls = new FleetMetrics(store, "shop");
export const reportLock = new Lock(store, "report");
