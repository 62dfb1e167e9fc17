// A Hono app for Deno and Bun: ten requests a second for each key, in bursts of 20, and the latencies of the last minute.
import process from "node:process";
import { Hono } from "hono";
import { gcra, Limiter, memoryStore, redisStore, Series } from "oriel";
import { honoLimiter } from "oriel/http";

const { REDIS_URL } = process.env;
const store = REDIS_URL ? redisStore(REDIS_URL) : memoryStore();
const limiter = new Limiter(store, [gcra({ limit: 10, span: "1s", burst: 20 })], { name: "hono" });
const latency = new Series(store, "hono:latency", { retention: "1h" });

const app = new Hono();
app.use("/api/*", honoLimiter(limiter, { key: (c) => c.req.header("x-api-key") ?? "anonymous" }));
app.use("/api/*", async (_c, next) => {
  const begunMs = performance.now();
  await next();
  latency.observe(performance.now() - begunMs);
});
app.get("/api/hello", (c) => c.text("hello\n"));
app.get("/latency", async (c) => {
  const { count, percentiles } = await latency.stats({ span: "1m", percentiles: [50, 99] });
  return c.json({ count, percentiles: count > 0 ? percentiles : null });
});

export default app;
