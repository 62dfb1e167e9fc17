// One process of the fleet: each structure under load. All processes run this file and share everything through Redis.
import { setTimeout as pause } from "node:timers/promises";
import {
  Breaker,
  Counters,
  DelayQueue,
  FleetMetrics,
  Limiter,
  Lock,
  OrielError,
  recordHistory,
  redisStore,
  Series,
  slidingWindow,
} from "oriel";

const CALLS_PER_SECOND = 50;
const SITES = ["north", "south", "east"];

const store = redisStore(process.env.REDIS_URL ?? "redis://127.0.0.1:6379");
store.on("error", ({ error }) => console.error(error.message));
const history = recordHistory(store);
const limiter = new Limiter(store, [slidingWindow({ limit: 100, span: "10s" })], { name: "visitors" });
const latency = new Series(store, "latency", { retention: "1h", onStoreError: "local" });
const visits = new Counters(store, "visits", { dimensions: ["site"] });
const mails = new DelayQueue<{ visitor: string }>(store, "mails");
const payments = new Breaker(store, { name: "payments", span: "10s", failureRatio: 0.5, cooldown: "5s" });
const calls = new FleetMetrics(store, "shop");
const cleaning = new Lock(store, "cleaning");
const worker = mails.process(() => pause(5), { concurrency: 4 });

const stopped = new AbortController();
// Ctrl-C reaches every process of a terminal. The first process decides when this one ends.
process.on("SIGINT", () => {});
process.once("disconnect", () => stopped.abort());

/** A payment takes some ms. In ten seconds of each minute most payments fail, and the circuit opens. */
async function pay(): Promise<void> {
  await pause(1 + 20 * Math.random() ** 4);
  const isDown = new Date().getSeconds() >= 50;
  if (Math.random() < (isDown ? 0.9 : 0.01)) throw new Error("the payment failed");
}

async function visit(): Promise<void> {
  const visitor = `visitor-${Math.floor(20 * Math.random() ** 2)}`;
  const begunMs = performance.now();
  const { allowed } = await limiter.take(visitor);
  if (!allowed) return;
  await visits.add({ site: SITES[Math.floor(Math.random() * SITES.length)]! });
  try {
    await payments.run(pay);
    calls.metric("pay").recordSuccess(performance.now() - begunMs);
    await mails.add({ visitor }, { delay: "2s" });
  } catch {
    calls.metric("pay").recordFailure();
  }
  latency.observe(performance.now() - begunMs);
}

/** One process at a time. */
async function clean(): Promise<void> {
  while (!stopped.signal.aborted) {
    const clean = () => pause(500, undefined, { signal: stopped.signal }).catch(() => {});
    await cleaning.withLock(clean).catch((error) => {
      if (!(error instanceof OrielError)) throw error; // others have cleaned, or Redis is away
    });
    await pause(500);
  }
}

const cleans = clean();
const open = new Set<Promise<void>>();
while (!stopped.signal.aborted) {
  const call = visit()
    .catch((error) => {
      if (!(error instanceof OrielError)) throw error;
      console.error(error.message); // Redis is away: the load goes on
    })
    .finally(() => open.delete(call));
  open.add(call);
  await pause(1000 / CALLS_PER_SECOND);
}
await Promise.all([...open, cleans]);
await worker.close();
await history.close();
await Promise.all([latency.close(), calls.close(), visits.close()]);
await store.close();
