// POST takes an order: at most five in ten seconds from one address. GET reports how long orders took, in all processes.
import { Limiter, redisStore, Series, slidingWindow } from "oriel";
import { clientKey, fetchLimiter } from "oriel/http";

/** Node's runtime: the store keeps its connection from request to request. */
export const runtime = "nodejs";
/** An answer is computed for each request. */
export const dynamic = "force-dynamic";

function create() {
  const store = redisStore(process.env.REDIS_URL ?? "redis://127.0.0.1:6379");
  const limiter = new Limiter(store, [slidingWindow({ limit: 5, span: "10s" })], { name: "orders" });
  return { store, limiter, latency: new Series(store, "orders:latency", { retention: "1h" }) };
}

// `next dev` loads this file again after each change. The connection stays.
const shared = globalThis as typeof globalThis & { oriel?: ReturnType<typeof create> };
shared.oriel ??= create();
const { limiter, latency } = shared.oriel;

export const POST = fetchLimiter(limiter, order, { key: (request) => clientKey(addressOf(request)) });

async function order(request: Request): Promise<Response> {
  const begunMs = performance.now();
  const { product } = await request.json();
  await latency.record(performance.now() - begunMs);
  return Response.json({ product }, { status: 201 });
}

export async function GET(): Promise<Response> {
  const { count, percentiles } = await latency.stats({ span: "1h", percentiles: [50, 99] });
  return Response.json({ count, percentiles: count > 0 ? percentiles : null });
}

/** Vercel's proxy sets x-real-ip. Behind another proxy, read the header field that it sets. */
function addressOf(request: Request): string | null {
  return request.headers.get("x-real-ip");
}
