import { Redis } from "ioredis";
import type { LimiterClient, LimiterRival } from "../rivals/limiter/limiter.ts";
import { LIMITER_RIVALS } from "../rivals/limiter/limiter-all.ts";
import { FLEXIBLE } from "../rivals/limiter/limiter-flexible.ts";
import type { Report, Row } from "../runner/report.ts";

export interface LimiterIdsOptions {
  /** Ids with one call each. */
  ids: number;
  callers: number;
  /** Ids among them that spend their limit, each call in another ms. */
  spent: number;
}

export const FULL_LIMITER_IDS: LimiterIdsOptions = { ids: 1_000_000, callers: 1_000, spent: 200 };
export const SMALL_LIMITER_IDS: LimiterIdsOptions = { ids: 200, callers: 20, spent: 5 };

const LIMIT = 100;
/** No window ends during a run, and no bucket leaks the permit of an id before its bytes are read. */
const SPAN_MS = 4 * 3_600_000;
const idOf = (i: number) => `user ${i}`;

/** The first call of many ids, one after the other, and the memory of Redis after one call and after a hundred. */
export async function benchLimiterIds(redisUrl: string, options: LimiterIdsOptions): Promise<Report> {
  const { ids, callers, spent } = options;
  const raw = new Redis(redisUrl);
  const rows: Row[] = [];
  const notes = [
    `used1: growth of used_memory over ${ids} ids with one call each, per id, with the tables of Redis.`,
    `bytes1, bytes100: MEMORY USAGE of all keys of an id after one call, and of ${spent} ids after ${LIMIT}, each in another ms. The limit is ${LIMIT} in 4 hours.`,
    "Each first call was admitted, as were all up to the limit. The next one was denied.",
  ];
  try {
    for (const rival of LIMITER_RIVALS) {
      const reason = rival.missing() ?? rival.oneIdOnly;
      if (reason) notes.push(`${rival.name} was skipped: ${reason}.`);
      else rows.push(await rowOf(raw, redisUrl, rival, options));
    }
  } finally {
    await raw.quit();
  }
  const reference = Number(rows.find(({ limiter }) => limiter === FLEXIBLE.name)?.opsPerSecond ?? Number.NaN);
  for (const row of rows) row.timesFaster = Number(row.opsPerSecond) / reference;
  return { bench: "limiterIds", title: `The first call of ${ids} ids, ${callers} callers`, rows, notes };
}

async function rowOf(
  raw: Redis,
  redisUrl: string,
  rival: LimiterRival,
  { ids, callers, spent }: LimiterIdsOptions,
): Promise<Row> {
  await raw.flushdb();
  const client = await rival.open(redisUrl, { limit: LIMIT, spanMs: SPAN_MS });
  try {
    const before = await usedBytes(raw);
    const startMs = performance.now();
    let next = 0;
    async function call(): Promise<void> {
      while (next < ids) await mustAdmit(rival, client, idOf(next++), true);
    }
    await Promise.all(Array.from({ length: callers }, call));
    const opsPerSecond = (ids / (performance.now() - startMs)) * 1000;
    const used1 = ((await usedBytes(raw)) - before) / ids;
    const names = Array.from({ length: spent }, (_, i) => idOf(Math.floor((i * ids) / spent)));
    const bytes1 = await bytesOf(raw, names);
    for (let i = 1; i < LIMIT; i++) {
      await new Promise((resolve) => setTimeout(resolve, 2)); // the server's clock has another ms then
      await Promise.all(names.map((name) => mustAdmit(rival, client, name, true)));
    }
    const bytes100 = await bytesOf(raw, names);
    await Promise.all(names.map((name) => mustAdmit(rival, client, name, false)));
    return { limiter: rival.name, kind: rival.kind, ids, opsPerSecond, bytes1, bytes100, used1 };
  } finally {
    await client.close();
    await raw.flushdb();
  }
}

async function mustAdmit(rival: LimiterRival, client: LimiterClient, id: string, right: boolean): Promise<void> {
  const allowed = await client.take(id);
  // Fixed windows may end between two calls of an id, and buckets leak a permit each 144 s.
  if (allowed !== right && (right || rival.timesLimit === 1))
    throw new Error(`${rival.name} ${allowed ? "admitted" : "denied"} a call of ${id}; right is the other`);
}

async function usedBytes(raw: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await raw.info("memory"))?.[1]);
}

/** Bytes of all keys of each id, on average. A key names its id between its other parts. */
async function bytesOf(raw: Redis, names: readonly string[]): Promise<number> {
  const keyOf = await keysOf(raw, names[0]!);
  let sum = 0;
  for (const name of names)
    for (const key of keyOf) sum += Number(await raw.memory("USAGE", key.replaceAll(names[0]!, name), "SAMPLES", 0));
  return sum / names.length;
}

/** The keys of one id, found among all by its name. */
async function keysOf(raw: Redis, name: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor = "0";
  do {
    const [next, found] = await raw.scan(cursor, "MATCH", `*${name}*`, "COUNT", 10_000);
    cursor = next;
    for (const key of found) if (!/\d/.test(key[key.indexOf(name) + name.length] ?? "")) keys.push(key);
  } while (cursor !== "0");
  return keys;
}
