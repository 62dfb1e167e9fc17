import { Redis } from "ioredis";
import { redisStore, Series, ShardedSeries } from "../../src/entries/index.ts";
import { commandsOf } from "../cluster/redis-info.ts";
import { latencies } from "../events.ts";
import type { Report, Row } from "../runner/report.ts";

export interface TrafficOptions {
  /** Events in a request. */
  batches: readonly number[];
  /** Calls of each kind, one after the other. */
  calls: number;
  shards: number;
}

export const FULL_TRAFFIC: TrafficOptions = { batches: [1, 32, 1024], calls: 500, shards: 4 };
export const SMALL_TRAFFIC: TrafficOptions = { batches: [1, 8], calls: 20, shards: 2 };

const QUERY = { span: "1m", percentiles: [50, 90, 99] } as const;
const SHARED = { ...QUERY, maxAge: "1m" } as const;

/** The traffic of each call, in commands of Redis and bytes of the network. Counts, which no load of the machine changes. */
export async function benchTraffic(redisUrl: string, options: TrafficOptions): Promise<Report> {
  const report: Report = {
    bench: "traffic",
    title: "The traffic of a call: commands of Redis, and bytes of the network",
    rows: [],
    notes: [
      `Means of ${options.calls} calls, one after the other, of one process. Commands are those that Redis counts, with those inside scripts. bytesIn are received by Redis.`,
      "A question asks for p50, p90 and p99. The process has a copy to which nothing was added, or another process has shared the answer.",
    ],
  };
  const raw = new Redis(redisUrl);
  const store = redisStore(redisUrl, { registry: false, deadline: "1m" });
  const other = redisStore(redisUrl, { registry: false, deadline: "1m" });
  try {
    for (const structure of ["Series", "ShardedSeries"] as const) {
      const name = `bench traffic ${structure}`;
      const open = (on = store) =>
        structure === "Series" ? new Series(on, name) : new ShardedSeries(on, name, { shards: options.shards });
      const shards = structure === "Series" ? 1 : options.shards;
      const series = open();
      const row = async (call: string, batch: number, run: () => Promise<unknown>) =>
        report.rows.push({ structure, shards, call, batch, ...(await traffic(raw, options.calls, run)) });
      for (const batch of options.batches) {
        const values = latencies(batch, 7);
        for (let i = 0; i < shards; i++) await series.recordMany(values);
        await row("record", batch, () => series.recordMany(values));
      }
      const { count } = await series.stats(QUERY);
      await row("question, with a copy", 0, () => series.stats(QUERY));
      await checkCount(name, series.stats(QUERY), count);
      if (structure === "Series") {
        await series.stats(SHARED);
        // A new object each time, because it keeps the answer for as long as its age allows.
        const ask = async () => {
          const asker = open(other);
          const { count } = await asker.stats(SHARED);
          await asker.close();
          return { count };
        };
        await row("question, shared", 0, ask);
        await checkCount(name, ask(), count);
      }
      await series.delete();
      await series.close();
    }
  } finally {
    await store.close();
    await other.close();
    raw.disconnect();
  }
  return report;
}

async function checkCount(name: string, answered: Promise<{ count: number }>, right: number): Promise<void> {
  const { count } = await answered;
  if (count !== right) throw new Error(`${name} answered ${count} events; right is ${right}`);
}

/** Of each call. The cost of the look at the server is taken off. */
async function traffic(raw: Redis, calls: number, run: () => Promise<unknown>): Promise<Row> {
  await run();
  const empty = differences(await look(raw), await look(raw));
  const before = await look(raw);
  for (let i = 0; i < calls; i++) await run();
  const used = differences(before, await look(raw));
  const [commands, bytesIn, bytesOut] = used.map((each, i) => (each - empty[i]!) / calls) as [number, number, number];
  return { commands, bytesIn, bytesOut };
}

const differences = (before: readonly number[], after: readonly number[]) => after.map((each, i) => each - before[i]!);

async function look(raw: Redis): Promise<[commands: number, bytesIn: number, bytesOut: number]> {
  const commands = await commandsOf(raw);
  const text = await raw.info("stats");
  const bytes = (way: string) => Number(new RegExp(`total_net_${way}_bytes:(\\d+)`).exec(text)![1]);
  return [commands, bytes("input"), bytes("output")];
}
