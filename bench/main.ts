import { parseArgs } from "node:util";
import { kernel } from "../src/entries/kernel.ts";
import { startRedis } from "../test/harness/servers/redis-server.ts";
import { benchBreakdown, FULL_BREAKDOWN, SMALL_BREAKDOWN } from "./breakdown.ts";
import { benchBreaker, FULL_BREAKER, SMALL_BREAKER } from "./breaker.ts";
import { benchCluster, FULL_CLUSTER, SMALL_CLUSTER } from "./cluster/cluster.ts";
import { benchCounters, FULL_COUNTERS, SMALL_COUNTERS } from "./counters/counters.ts";
import { benchSql, FULL_SQL, SMALL_SQL } from "./counters/sql.ts";
import { benchDashboard, FULL_DASHBOARD, SMALL_DASHBOARD } from "./dashboard/dashboard.ts";
import { benchGroups, FULL_GROUPS, SMALL_GROUPS } from "./groups/groups.ts";
import { benchImports, FULL_IMPORTS, SMALL_IMPORTS } from "./imports.ts";
import { benchBlocks, FULL_BLOCKS, SMALL_BLOCKS } from "./kernel/blocks.ts";
import { benchKernels, FULL_KERNELS, SMALL_KERNELS } from "./kernel/kernels.ts";
import { benchRolling, FULL_ROLLING, SMALL_ROLLING } from "./kernel/rolling.ts";
import { benchSketches, FULL_SKETCHES, SMALL_SKETCHES } from "./kernel/sketches.ts";
import { benchKeys, FULL_KEYS, SMALL_KEYS } from "./keys.ts";
import { benchAdmitted, FULL_ADMITTED, SMALL_ADMITTED } from "./limiter/admitted.ts";
import { benchLimiterIds, FULL_LIMITER_IDS, SMALL_LIMITER_IDS } from "./limiter/limiter-ids.ts";
import { benchLimiters, FULL_LIMITERS, SMALL_LIMITERS } from "./limiter/limiters.ts";
import { benchLock, FULL_LOCK, SMALL_LOCK } from "./lock/lock.ts";
import { benchSemaphore, FULL_SEMAPHORE, SMALL_SEMAPHORE } from "./lock/semaphore.ts";
import { benchMetrics, FULL_METRICS, SMALL_METRICS } from "./metrics.ts";
import { benchOutage, FULL_OUTAGE, SMALL_OUTAGE } from "./outage.ts";
import { benchQueue, FULL_QUEUE, SMALL_QUEUE } from "./queue/queue.ts";
import { benchRegistry, FULL_REGISTRY, SMALL_REGISTRY } from "./registry/registry.ts";
import { rivalVersions, writeReport } from "./report/write.ts";
import { environment } from "./runner/environment.ts";
import { jsonLines, type Measured, type Report, table } from "./runner/report.ts";
import { benchRuntimes, FULL_RUNTIMES, SMALL_RUNTIMES } from "./runtimes.ts";
import { benchGrowth, FULL_GROWTH, SMALL_GROWTH } from "./scale/growth.ts";
import { benchTraffic, FULL_TRAFFIC, SMALL_TRAFFIC } from "./scale/traffic.ts";
import { benchBytes, FULL_BYTES, SMALL_BYTES } from "./sealed/bytes.ts";
import { benchInside, FULL_INSIDE, SMALL_INSIDE } from "./sealed/inside.ts";
import { benchSealed, FULL_SEALED, SMALL_SEALED } from "./sealed/sealed.ts";
import { benchSummaries, FULL_SUMMARIES, SMALL_SUMMARIES } from "./sealed/summaries.ts";
import { benchCold, FULL_COLD, SMALL_COLD } from "./series/cold.ts";
import { benchCompact, FULL_COMPACT, SMALL_COMPACT } from "./series/compact.ts";
import { benchFleet, FULL_FLEET, SMALL_FLEET } from "./series/fleet.ts";
import { benchHeld, FULL_HELD, SMALL_HELD } from "./series/held.ts";
import { benchLive, FULL_LIVE, SMALL_LIVE } from "./series/live.ts";
import { benchMemory, FULL_MEMORY, SMALL_MEMORY } from "./series/memory.ts";
import { benchPipeline, FULL_PIPELINE, SMALL_PIPELINE } from "./series/pipeline.ts";
import { benchProcesses, FULL_PROCESSES, SMALL_PROCESSES } from "./series/processes.ts";
import { benchResident, FULL_RESIDENT, SMALL_RESIDENT } from "./series/resident.ts";
import { benchShards, FULL_SHARDS, SMALL_SHARDS } from "./series/shards.ts";
import { benchTimeline, FULL_TIMELINE, SMALL_TIMELINE } from "./series/timeline.ts";
import { benchWindows, FULL_WINDOWS, SMALL_WINDOWS } from "./series/windows.ts";
import { benchStorms, FULL_STORMS, SMALL_STORMS } from "./storms/storms.ts";

/** Every bench by its name: runs against a Redis of its own, in full or in tiny sizes. */
const BENCHES: Record<string, (redisUrl: string, small: boolean) => Promise<Report>> = {
  windows: (redisUrl, small) => benchWindows(redisUrl, small ? SMALL_WINDOWS : FULL_WINDOWS, console.error),
  cluster: (_redisUrl, small) => benchCluster(small ? SMALL_CLUSTER : FULL_CLUSTER),
  processes: (redisUrl, small) => benchProcesses(redisUrl, small ? SMALL_PROCESSES : FULL_PROCESSES),
  fleet: (redisUrl, small) => benchFleet(redisUrl, small ? SMALL_FLEET : FULL_FLEET),
  shards: (_redisUrl, small) => benchShards(small ? SMALL_SHARDS : FULL_SHARDS),
  traffic: (redisUrl, small) => benchTraffic(redisUrl, small ? SMALL_TRAFFIC : FULL_TRAFFIC),
  growth: (_redisUrl, small) => benchGrowth(small ? SMALL_GROWTH : FULL_GROWTH),
  registry: (redisUrl, small) => benchRegistry(redisUrl, small ? SMALL_REGISTRY : FULL_REGISTRY),
  dashboard: (redisUrl, small) => benchDashboard(redisUrl, small ? SMALL_DASHBOARD : FULL_DASHBOARD),
  keys: (redisUrl, small) => benchKeys(redisUrl, small ? SMALL_KEYS : FULL_KEYS),
  cold: (redisUrl, small) => benchCold(redisUrl, small ? SMALL_COLD : FULL_COLD),
  timeline: (redisUrl, small) => benchTimeline(redisUrl, small ? SMALL_TIMELINE : FULL_TIMELINE),
  groups: (redisUrl, small) => benchGroups(redisUrl, small ? SMALL_GROUPS : FULL_GROUPS),
  breakdown: (redisUrl, small) => benchBreakdown(redisUrl, small ? SMALL_BREAKDOWN : FULL_BREAKDOWN),
  memory: (redisUrl, small) => benchMemory(redisUrl, small ? SMALL_MEMORY : FULL_MEMORY),
  sealed: (redisUrl, small) => benchSealed(redisUrl, small ? SMALL_SEALED : FULL_SEALED),
  inside: (redisUrl, small) => benchInside(redisUrl, small ? SMALL_INSIDE : FULL_INSIDE),
  bytes: (redisUrl, small) => benchBytes(redisUrl, small ? SMALL_BYTES : FULL_BYTES),
  summaries: (redisUrl, small) => benchSummaries(redisUrl, small ? SMALL_SUMMARIES : FULL_SUMMARIES),
  kernels: (_redisUrl, small) => benchKernels(small ? SMALL_KERNELS : FULL_KERNELS),
  blocks: (_redisUrl, small) => Promise.resolve(benchBlocks(small ? SMALL_BLOCKS : FULL_BLOCKS)),
  pipeline: (_redisUrl, small) => benchPipeline(small ? SMALL_PIPELINE : FULL_PIPELINE),
  held: (_redisUrl, small) => benchHeld(small ? SMALL_HELD : FULL_HELD),
  resident: (_redisUrl, small) => benchResident(small ? SMALL_RESIDENT : FULL_RESIDENT),
  compact: (_redisUrl, small) => benchCompact(small ? SMALL_COMPACT : FULL_COMPACT),
  live: (_redisUrl, small) => benchLive(small ? SMALL_LIVE : FULL_LIVE),
  metrics: (_redisUrl, small) => benchMetrics(small ? SMALL_METRICS : FULL_METRICS),
  lock: (redisUrl, small) => benchLock(redisUrl, small ? SMALL_LOCK : FULL_LOCK),
  semaphore: (redisUrl, small) => benchSemaphore(redisUrl, small ? SMALL_SEMAPHORE : FULL_SEMAPHORE),
  limiters: (redisUrl, small) => benchLimiters(redisUrl, small ? SMALL_LIMITERS : FULL_LIMITERS),
  admitted: (_redisUrl, small) => benchAdmitted(small ? SMALL_ADMITTED : FULL_ADMITTED),
  limiterIds: (redisUrl, small) => benchLimiterIds(redisUrl, small ? SMALL_LIMITER_IDS : FULL_LIMITER_IDS),
  outage: (_redisUrl, small) => benchOutage(small ? SMALL_OUTAGE : FULL_OUTAGE),
  breaker: (redisUrl, small) => benchBreaker(redisUrl, small ? SMALL_BREAKER : FULL_BREAKER),
  queue: (redisUrl, small) => benchQueue(redisUrl, small ? SMALL_QUEUE : FULL_QUEUE),
  sql: (_redisUrl, small) => benchSql(small ? SMALL_SQL : FULL_SQL),
  counters: (redisUrl, small) => benchCounters(redisUrl, small ? SMALL_COUNTERS : FULL_COUNTERS),
  imports: (_redisUrl, small) => Promise.resolve(benchImports(small ? SMALL_IMPORTS : FULL_IMPORTS)),
  runtimes: (_redisUrl, small) => benchRuntimes(small ? SMALL_RUNTIMES : FULL_RUNTIMES),
  rolling: (_redisUrl, small) => benchRolling(small ? SMALL_ROLLING : FULL_ROLLING),
  storms: (_redisUrl, small) => benchStorms(small ? SMALL_STORMS : FULL_STORMS),
  sketches: (_redisUrl, small) => benchSketches(small ? SMALL_SKETCHES : FULL_SKETCHES),
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      small: { type: "boolean", default: false },
      report: { type: "boolean", default: false },
      output: { type: "string", default: "bench-report.html" },
      only: { type: "string", multiple: true, default: Object.keys(BENCHES) },
    },
  });
  const unknown = values.only.filter((name) => !(name in BENCHES));
  if (unknown.length > 0) {
    console.error(`--only is ${unknown.join(", ")}; it must be one of ${Object.keys(BENCHES).join(", ")}`);
    return 2;
  }
  const server = await startRedis({ tcp: true });
  try {
    const facts = await environment(server.url, kernel.name);
    if (values.json) console.log(JSON.stringify({ environment: facts }));
    else
      console.log(
        `${Object.entries(facts)
          .map(([name, value]) => `${name} ${value}`)
          .join(" · ")}\n`,
      );
    const words = ["npm run bench --", ...process.argv.slice(2)].join(" ");
    const run: Measured = { command: words, facts, rivals: rivalVersions(), reports: [] };
    for (const name of values.only) {
      const report = await BENCHES[name]?.(server.url, values.small);
      if (!report) continue;
      console.log(values.json ? jsonLines(report) : table(report));
      run.reports.push(report);
      // After each bench, so that a long run that is ended has written the finished ones.
      if (values.report) writeReport(values.output, run);
    }
    if (values.report) console.error(`the report is in ${values.output}`);
  } finally {
    await server.stop();
  }
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});
