import { Redis } from "ioredis";
import { redisStore, Series, ShardedSeries } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../../test/harness/servers/redis-server.ts";
import type { Report, Row } from "../runner/report.ts";

export interface ShardsOptions {
  /** Numbers of servers, each with one shard. */
  shards: readonly number[];
  events: number;
  /** Processes, and the calls that each has under way. */
  processes: number;
  callers: number;
}

export const FULL_SHARDS: ShardsOptions = { shards: [1, 2, 4], events: 400_000, processes: 4, callers: 250 };
export const SMALL_SHARDS: ShardsOptions = { shards: [2], events: 400, processes: 2, callers: 10 };

/** The CPU of each server for each event, of one series and of one with shards: where it ends. */
export async function benchShards({ shards, events, processes, callers }: ShardsOptions): Promise<Report> {
  const report: Report = {
    bench: "shards",
    title: "One series on several servers: CPU of each server for each event",
    rows: [],
    notes: [
      `${processes} processes (stores of their own) record ${events} events together, with ${callers} calls under way each. CPU is what the servers count for themselves (INFO cpu).`,
      "The capacity is the number of events a second at which the busiest server needs a whole core. The machine does not have as many cores, so it is computed and not measured.",
      "At the end a new process had to find every event.",
    ],
  };
  report.rows.push(await measure("Series", 1, events, processes, callers));
  for (const number of shards) report.rows.push(await measure("ShardedSeries", number, events, processes, callers));
  return report;
}

async function measure(
  structure: "Series" | "ShardedSeries",
  number: number,
  events: number,
  processes: number,
  callers: number,
): Promise<Row> {
  const servers = await Promise.all(Array.from({ length: number }, () => startRedis()));
  const stores: { close(): Promise<void> }[] = [];
  const open = () => {
    const own = servers.map(({ url }) => redisStore(url, { registry: false, deadline: "1m" }));
    stores.push(...own);
    return structure === "Series" ? new Series(own[0]!, "bench") : new ShardedSeries(own, "bench");
  };
  try {
    const fleet = Array.from({ length: processes }, open);
    await Promise.all(fleet.map((series) => series.record(0)));
    const before = await Promise.all(servers.map(cpuUs));
    let left = events;
    const record = async (series: Series | ShardedSeries) => {
      while (left-- > 0) await series.record(left % 1000);
    };
    await Promise.all(fleet.flatMap((series) => Array.from({ length: callers }, () => record(series))));
    const after = await Promise.all(servers.map(cpuUs));
    const { count, degraded } = await open().stats({ percentiles: [] });
    if (count !== events + processes || degraded)
      throw new Error(`${structure} on ${number} servers answered ${count} events; right is ${events + processes}`);
    const used = after.map((us, i) => (us - before[i]!) / events);
    const busiest = Math.max(...used);
    return {
      ...{ structure, shards: number, events },
      usPerEvent: used.reduce((sum, us) => sum + us, 0),
      usOfBusiest: busiest,
      eventsPerSecond: 1e6 / busiest,
    };
  } finally {
    for (const store of stores) await store.close();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function cpuUs({ url }: RedisServer): Promise<number> {
  const client = new Redis(url);
  const text = await client.info("cpu");
  client.disconnect();
  const [user, system] = ["user", "sys"].map((kind) => Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(text)![1]));
  return 1e6 * (user! + system!);
}
