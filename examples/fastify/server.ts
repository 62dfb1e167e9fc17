// A Fastify server: 100 requests a minute for each API key, and the latencies that it reports are those of all processes.
import Fastify from "fastify";
import { Limiter, redisStore, Series, slidingWindow } from "oriel";
import { dashboard } from "oriel/dashboard";
import { fastifyLimiter } from "oriel/http";

const { REDIS_URL = "redis://127.0.0.1:6379", API_KEYS = "demo", PORT = "3000" } = process.env;
const store = redisStore(REDIS_URL);
const limiter = new Limiter(store, [slidingWindow({ limit: 100, span: "1m" })], { name: "keys" });
const latency = new Series(store, "fastify:latency", { retention: "1h", onStoreError: "local" });
const known = new Set(API_KEYS.split(","));

// After SIGTERM, a client's idle connection delays the end by at most five seconds. Fastify's own default is 72.
const app = Fastify({ keepAliveTimeout: 5_000 });
app.register(dashboard(store).fastify, { prefix: "/oriel" });

app.register(async (api) => {
  // The key is verified before the limiter reads it. A client that may invent keys is not limited by them.
  api.addHook("onRequest", async (request, reply) => {
    if (!known.has(String(request.headers["x-api-key"]))) return reply.code(401).send();
  });
  api.addHook("onRequest", fastifyLimiter(limiter, { key: ({ headers }) => String(headers["x-api-key"]) }));
  api.addHook("onResponse", async (_request, reply) => latency.observe(reply.elapsedTime));

  api.get("/hello", async () => ({ hello: "world" }));
  api.get("/latency", async () => {
    const { count, percentiles } = await latency.stats({ span: "5m", percentiles: [50, 99] });
    return { count, percentiles };
  });
});

// After the last request: the series sends the events that wait, then the store closes.
app.addHook("onClose", async () => {
  await latency.close();
  await store.close();
});
process.once("SIGTERM", () => app.close());
process.once("SIGINT", () => app.close());

console.log(await app.listen({ port: Number(PORT) }));
