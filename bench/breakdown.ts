import { Session } from "node:inspector/promises";
import { Redis } from "ioredis";
import { redisStore, Series } from "../src/entries/index.ts";
import { latencies } from "./events.ts";
import { median, operationsPerSecond, runSlice } from "./runner/measure.ts";
import type { Report, Row } from "./runner/report.ts";

export interface BreakdownOptions {
  events: number;
  callers: readonly number[];
  slices: number;
  sliceMs: number;
}

export const FULL_BREAKDOWN: BreakdownOptions = {
  events: 1_000_000,
  callers: [1, 50, 1_000],
  slices: 5,
  sliceMs: 400,
};
export const SMALL_BREAKDOWN: BreakdownOptions = { events: 100, callers: [1, 4], slices: 1, sliceMs: 20 };

/** Whose code a sample of the CPU profile was in: the first that fits its function or file. */
const SHARES: readonly [name: string, of: RegExp][] = [
  ["idleUs", /^\(idle\)/],
  ["garbageUs", /^\(garbage collector\)/],
  ["windowUs", /\/src\/engine\/(stats|kernel)\/|^wasm-function|wasm:/],
  ["storeUs", /\/src\/store\//],
  ["parserUs", /ioredis\/built\/(resp|DataHandler)|redis-parser/],
  ["clientUs", /ioredis/],
  ["socketUs", /^(writeBuffer|writev|writeUtf8String|writeLatin1String) |node:(net|internal\/(stream|streams))/],
  ["otherUs", /^/],
];

/** Splits the time of `recordAndGet`: in this process by a CPU profile, in Redis by its own counters. */
export async function benchBreakdown(redisUrl: string, options: BreakdownOptions): Promise<Report> {
  const redis = new Redis(redisUrl);
  const store = redisStore(redisUrl, { deadline: "1m" });
  const series = new Series(store, "bench breakdown", { retention: "1h" });
  await series.recordMany(latencies(options.events, 1));
  await series.stats();
  const rows: Row[] = [];
  for (const callers of options.callers) {
    const slices: Row[] = [];
    for (let turn = 0; turn <= options.slices; turn++) {
      const slice = await measure(series, redis, callers, options.sliceMs);
      if (turn > 0) slices.push(slice);
    }
    const names = Object.keys(slices[0]!);
    rows.push(Object.fromEntries(names.map((name) => [name, median(slices.map((slice) => Number(slice[name])))])));
  }
  await series.delete();
  await series.close();
  await store.close();
  await redis.quit();
  return {
    bench: "breakdown",
    title: `The parts of the time of recordAndGet (p99 over ${options.events} events, one key, one process), us per operation`,
    rows,
    notes: [
      "wallUs is the sum of idleUs to otherUs. These are idle time until Redis answers, garbage collection, window and kernels, store, the client's parser, the rest of the client, socket (a write to loopback includes waking Redis), and the rest (event loop, promises, the profiler).",
      "redisUs is the CPU time of redis-server, in addition to wallUs. scriptUs is its part in EVALSHA, with arguments, Lua and the commands called. eventsPerScript is the number of operations in one script call.",
    ],
  };
}

async function measure(series: Series, redis: Redis, callers: number, sliceMs: number): Promise<Row> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 200 });
  const before = await cpuOf(redis);
  await redis.config("RESETSTAT");
  await session.post("Profiler.start");
  const slice = await runSlice({ callers, sliceMs, minOperations: 1 }, async () => {
    await series.recordAndGet(12.5, { percentiles: [99] });
    return true;
  });
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  const after = await cpuOf(redis);
  const [, scripts, scriptUs] = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await redis.info("commandstats")) ?? [];
  const shares = Object.fromEntries(SHARES.map(([name]) => [name, 0]));
  const names = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url } }) => [id, `${functionName} ${url}`]),
  );
  const profiledUs = profile.timeDeltas!.reduce((sum, us) => sum + us, 0);
  const { operations, elapsedMs } = slice;
  const perSample = (elapsedMs * 1000) / profiledUs / operations;
  for (const [i, id] of profile.samples!.entries()) {
    const share = SHARES.find(([, of]) => of.test(names.get(id)!))![0];
    shares[share]! += profile.timeDeltas![i]! * perSample;
  }
  return {
    callers,
    opsPerSecond: operationsPerSecond(slice),
    wallUs: (elapsedMs * 1000) / operations,
    ...shares,
    redisUs: (after - before) / operations,
    scriptUs: Number(scriptUs) / operations,
    eventsPerScript: operations / Number(scripts),
  };
}

/** CPU time of the server so far, us. */
async function cpuOf(redis: Redis): Promise<number> {
  const text = await redis.info("cpu");
  const seconds = (name: string) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(text)?.[1]);
  return (seconds("user") + seconds("sys")) * 1e6;
}
