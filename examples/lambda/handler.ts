// A Lambda function behind an HTTP API: five requests in ten seconds from one address; it records how long each order took and
// answers with the p99 of the last hour over all instances.
import { Limiter, redisStore, Series, slidingWindow } from "oriel";

// Outside the handler: kept while the instance is warm. An instance that was frozen connects anew by itself.
const store = redisStore(process.env.REDIS_URL ?? "redis://127.0.0.1:6379");
const limiter = new Limiter(store, [slidingWindow({ limit: 5, span: "10s" })], { name: "orders" });
const latency = new Series(store, "orders:latency", { retention: "1h" });

/** The member of an event of an HTTP API that is used. */
interface Event {
  requestContext: { http: { sourceIp: string } };
}

interface Answer {
  statusCode: number;
  headers?: Record<string, string>;
  body: string;
}

export async function handler(event: Event): Promise<Answer> {
  const { allowed, retryAfterMs } = await limiter.take(event.requestContext.http.sourceIp);
  if (!allowed)
    return { statusCode: 429, headers: { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }, body: "" };
  const begunMs = performance.now();
  await order(event);
  const tookMs = performance.now() - begunMs;
  const { count, percentiles } = await latency.recordAndGet(tookMs, { span: "1h", percentiles: [99] });
  return { statusCode: 200, body: JSON.stringify({ count, tookMs, p99: percentiles[99] }) };
}

async function order(_event: Event): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
}
