import type { Redis } from "ioredis";
import type { LimiterRival } from "../rivals/limiter/limiter.ts";

const LIMIT = 100;
const SPAN_MS = 60_000;

/** Bytes of all keys of the database per id with a spent limit. The database is emptied before and after. */
export async function bytesPerId(raw: Redis, redisUrl: string, rival: LimiterRival, ids: number): Promise<number> {
  await raw.flushdb();
  const client = await rival.open(redisUrl, { limit: LIMIT, spanMs: SPAN_MS });
  try {
    const names = Array.from({ length: ids }, (_, i) => `user ${i}`);
    for (let i = 0; i < LIMIT; i++) await Promise.all(names.map((name) => client.take(name)));
    const keys = await raw.keys("*");
    const bytes = await Promise.all(keys.map((key) => raw.memory("USAGE", key, "SAMPLES", 0)));
    return bytes.reduce<number>((sum, each) => sum + Number(each), 0) / ids;
  } finally {
    await client.close();
    await raw.flushdb();
  }
}
