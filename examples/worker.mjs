// A Cloudflare Worker: at most 100 requests a minute from one address, and at /p99 the latency of all Workers, exactly.
// wrangler secret put REDIS_REST_URL, REDIS_REST_TOKEN; no configuration besides: the kernels come as a .wasm file.
import { httpStore, Limiter, Series, slidingWindow } from "oriel";
import { clientKey, fetchLimiter } from "oriel/http";

const policies = [slidingWindow({ limit: 100, span: "1m" })];

export default {
  async fetch(request, env, context) {
    // One store per request: it holds no connection, and Workers share no I/O between requests.
    const store = httpStore({ url: env.REDIS_REST_URL, token: env.REDIS_REST_TOKEN });
    const limiter = new Limiter(store, policies, { name: "worker", onStoreError: "allow" });
    const latency = new Series(store, "worker:latency", { retention: "1h" });
    const key = (incoming) => clientKey(incoming.headers.get("cf-connecting-ip") ?? "0.0.0.0");
    return fetchLimiter(limiter, (incoming) => answer(incoming, latency, context), { key })(request);
  },
};

async function answer(request, latency, context) {
  if (new URL(request.url).pathname === "/p99") {
    const { count, percentiles } = await latency.stats({ span: "5m", percentiles: [99] });
    return Response.json({ count, p99: count > 0 ? percentiles[99] : null });
  }
  const begunMs = Date.now();
  const response = new Response("hello\n");
  // After the answer has gone: the visitor does not wait for it.
  context.waitUntil(latency.record(Date.now() - begunMs));
  return response;
}
