import type { Redis } from "ioredis";

const ASKED = 50;

/** The server's time minus `performance.now()`, from the fastest answer to TIME. Exact to `eitherWayMs`. */
export async function serverAhead(raw: Redis): Promise<{ aheadMs: number; eitherWayMs: number }> {
  let best = { aheadMs: 0, eitherWayMs: Number.POSITIVE_INFINITY };
  for (let i = 0; i < ASKED; i++) {
    const sentMs = performance.now();
    const [seconds, microseconds] = await raw.time();
    const answeredMs = performance.now();
    const eitherWayMs = (answeredMs - sentMs) / 2;
    const serverMs = Number(seconds) * 1000 + Number(microseconds) / 1000;
    if (eitherWayMs < best.eitherWayMs) best = { aheadMs: serverMs - (sentMs + answeredMs) / 2, eitherWayMs };
  }
  return best;
}
