import { Redis } from "ioredis";
import { Counters } from "../../src/counters/counter/counters.ts";
import { redisStore } from "../../src/store/redis/redis.ts";

/** The counted rows: one object for each distinct row. */
export type CounterRows = readonly { readonly site: string; readonly lane: string }[];

export interface CounterClient {
  /** Counts one event of each of these rows. Resolves when all are acknowledged. */
  add(events: Uint32Array): Promise<void>;
  /** The number of counted events, by each kept bucket. */
  totals(): Promise<bigint[]>;
  close(): Promise<void>;
}

export interface CounterRival {
  readonly name: string;
  readonly kind: string;
  open(redisUrl: string, rows: CounterRows): Promise<CounterClient>;
}

const MINUTE_MS = 60_000;
const AT = Date.UTC(2026, 10, 21, 12);
const BUCKETS = { minute: 1, hour: 60, day: 1440 };

export const ORIEL_COUNTERS: CounterRival = {
  name: "oriel",
  kind: "exact: each event once, whatever is sent again",
  async open(redisUrl, rows) {
    const store = redisStore(redisUrl, { deadline: 30_000 });
    const counters = new Counters(store, "flow", { dimensions: ["site", "lane"] });
    const at = { at: AT };
    return {
      async add(events) {
        const acknowledged = new Set<Promise<void>>();
        let last: Promise<void> | undefined;
        for (const row of events) {
          const one = counters.add(rows[row]!, at);
          if (one !== last) acknowledged.add(one);
          last = one;
        }
        await Promise.all(acknowledged);
      },
      totals: () =>
        Promise.all(
          (["minute", "hour", "day"] as const).map(async (bucket) =>
            (await counters.read({ bucket, bigint: true })).reduce((sum, { count }) => sum + count, 0n),
          ),
        ),
      async close() {
        await counters.close();
        await store.close();
      },
    };
  },
};

/** Sums a batch by row in the process, like reduceByKey. */
function reduced(events: Uint32Array): Map<number, number> {
  const sums = new Map<number, number>();
  for (const row of events) sums.set(row, (sums.get(row) ?? 0) + 1);
  return sums;
}

const sumOf = (counts: readonly (string | null)[]) => counts.reduce((sum, count) => sum + BigInt(count ?? 0), 0n);
const startOf = (minutes: number) => Math.floor(AT / MINUTE_MS / minutes) * minutes;

/** Sums in the process, then updates three keys a row in a pipeline. A retried request counts again. */
const PLAIN_KEYS: CounterRival = {
  name: "reduceByKey, 3 INCRBY",
  kind: "keys, pipelined",
  async open(redisUrl, rows) {
    const client = new Redis(redisUrl);
    const prefixes = Object.entries(BUCKETS).map(([name, minutes]) => `plain:${name}:${startOf(minutes)}`);
    return {
      async add(events) {
        const pipeline = client.pipeline();
        for (const [row, count] of reduced(events)) {
          const { site, lane } = rows[row]!;
          for (const prefix of prefixes) pipeline.incrby(`${prefix}:${site}:${lane}`, count);
        }
        await pipeline.exec();
      },
      totals: () =>
        Promise.all(
          prefixes.map(async (prefix) => {
            let sum = 0n;
            for (let at = 0; at < rows.length; at += 1000)
              sum += sumOf(
                await client.mget(rows.slice(at, at + 1000).map(({ site, lane }) => `${prefix}:${site}:${lane}`)),
              );
            return sum;
          }),
        ),
      close: async () => void (await client.quit()),
    };
  },
};

/** The same with one hash for each bucket. */
const PLAIN_HASHES: CounterRival = {
  name: "reduceByKey, 3 HINCRBY",
  kind: "a hash a bucket, pipelined",
  async open(redisUrl, rows) {
    const client = new Redis(redisUrl);
    const keys = Object.entries(BUCKETS).map(([name, minutes]) => `hash:${name}:${startOf(minutes)}`);
    return {
      async add(events) {
        const pipeline = client.pipeline();
        for (const [row, count] of reduced(events)) {
          const { site, lane } = rows[row]!;
          for (const key of keys) pipeline.hincrby(key, `${site}:${lane}`, count);
        }
        await pipeline.exec();
      },
      totals: () => Promise.all(keys.map(async (key) => sumOf(await client.hvals(key)))),
      close: async () => void (await client.quit()),
    };
  },
};

export const COUNTER_RIVALS: readonly CounterRival[] = [ORIEL_COUNTERS, PLAIN_KEYS, PLAIN_HASHES];
