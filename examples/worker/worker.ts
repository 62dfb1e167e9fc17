// A Cloudflare Worker before an origin: at most 100 requests a minute from one address, and at /p99 the origin's latency as
// all Workers see it, exactly. Two commands of Redis a request: one decides, one records.
import { httpStore, Limiter, Series, slidingWindow } from "oriel";
import { clientKey, fetchLimiter } from "oriel/http";

interface Env {
  REDIS_REST_URL: string;
  REDIS_REST_TOKEN: string;
  ORIGIN: string;
}

interface Context {
  waitUntil(work: Promise<unknown>): void;
}

const policies = [slidingWindow({ limit: 100, span: "1m" })];

export default {
  async fetch(request: Request, env: Env, context: Context): Promise<Response> {
    // One store per request: it holds no connection, and Workers share no I/O between requests.
    const store = httpStore({ url: env.REDIS_REST_URL, token: env.REDIS_REST_TOKEN });
    const limiter = new Limiter(store, policies, { name: "worker", onStoreError: "allow" });
    const latency = new Series(store, "worker:latency", { retention: "1h" });
    const key = (incoming: Request) => clientKey(incoming.headers.get("cf-connecting-ip"));
    return fetchLimiter(limiter, (incoming) => answer(incoming, env, latency, context), { key })(request);
  },
};

async function answer(request: Request, env: Env, latency: Series, context: Context): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  if (pathname === "/p99") {
    const { count, percentiles } = await latency.stats({ span: "5m", percentiles: [99] });
    return Response.json({ count, p99: count > 0 ? percentiles[99] : null });
  }
  const begunMs = Date.now();
  const response = await fetch(new Request(new URL(pathname + search, env.ORIGIN), request));
  // A Worker's clock stands still but while it waits for I/O: this is the origin's time. A Worker's own computing measures 0.
  const tookMs = Date.now() - begunMs;
  // After the answer has gone: the visitor does not wait for it. One request; `record` of a new Series would be two.
  context.waitUntil(latency.recordAndGet(tookMs, { span: "1s" }));
  return response;
}
