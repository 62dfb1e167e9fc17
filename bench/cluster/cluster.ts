import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Cluster } from "ioredis";
import { redisStore, Series } from "../../src/entries/index.ts";
import { type RedisCluster, startCluster } from "../../test/harness/servers/redis-cluster.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface ClusterOptions {
  /** Client processes, and callers in each. A caller awaits its record before the next. */
  processes: number;
  callers: number;
  /** Measured slices of each layout; the layouts take turns. */
  slices: number;
  sliceMs: number;
}

export const FULL_CLUSTER: ClusterOptions = { processes: 3, callers: 333, slices: 5, sliceMs: 1000 };
export const SMALL_CLUSTER: ClusterOptions = { processes: 2, callers: 2, slices: 1, sliceMs: 10 };

/** The series that the processes record into, and their primaries. */
interface Layout {
  name: string;
  cluster: RedisCluster;
  client: Cluster;
  names: string[];
}

interface Turn {
  operationsPerSecond: number;
  serverUsPerOperation: number;
}

const AS_BUILT = new URL("../typescript.mjs", import.meta.url).href;
const CLIENT = fileURLToPath(new URL("cluster-client.ts", import.meta.url));

class ClientProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(layouts: readonly { urls: readonly string[]; name: string }[]) {
    this.#child = spawn(process.execPath, ["--import", AS_BUILT, CLIENT, JSON.stringify(layouts)]);
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async slice(layout: number, callers: number, sliceMs: number): Promise<{ operations: number; elapsedMs: number }> {
    this.#child.stdin.write(`${JSON.stringify({ layout, callers, sliceMs })}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("a client process of the cluster bench ended");
    return JSON.parse(value);
  }

  end(): void {
    this.#child.kill();
  }
}

/** One series written by several processes, compared with one series per primary. */
export async function benchCluster(options: ClusterOptions): Promise<Report> {
  const clusters = [await startCluster(1), await startCluster(3)];
  const layouts: Layout[] = [];
  const processes: ClientProcess[] = [];
  try {
    for (const [name, cluster, parts] of [
      ["1 primary, 1 series", clusters[0]!, 1],
      ["1 primary, 3 series", clusters[0]!, 3],
      ["3 primaries, 1 series", clusters[1]!, 1],
      ["3 primaries, 3 series", clusters[1]!, 3],
    ] as const)
      layouts.push({
        name,
        cluster,
        client: new Cluster([...cluster.urls]),
        names: await partsOf(name, cluster, parts),
      });
    for (let i = 0; i < options.processes; i++)
      processes.push(
        new ClientProcess(
          layouts.map(({ cluster, names }) => ({ urls: cluster.urls, name: names[i % names.length]! })),
        ),
      );
    return await measure(layouts, processes, options);
  } finally {
    for (const each of processes) each.end();
    for (const { client } of layouts) client.disconnect();
    for (const cluster of clusters) await cluster.stop();
  }
}

/** Names of series that lie on different primaries, as far as there are enough. */
async function partsOf(layout: string, cluster: RedisCluster, count: number): Promise<string[]> {
  const primaries = cluster.nodes.length;
  const names: string[] = [];
  for (let i = 0; names.length < count; i++) {
    const name = `${layout} ${i}`;
    if ((await cluster.ownerOf(`oriel:{${name}}`)) === names.length % primaries) names.push(name);
  }
  return names;
}

async function measure(layouts: Layout[], processes: ClientProcess[], options: ClusterOptions): Promise<Report> {
  const turns = layouts.map((): Turn[] => []);
  const recorded = layouts.map(() => 0);
  for (let slice = 0; slice <= options.slices; slice++)
    for (const [i, { client }] of layouts.entries()) {
      const beganUs = await serverCpuUs(client);
      const done = await Promise.all(processes.map((each) => each.slice(i, options.callers, options.sliceMs)));
      const operations = done.reduce((sum, each) => sum + each.operations, 0);
      recorded[i]! += operations;
      const operationsPerSecond = done.reduce((sum, each) => sum + (1000 * each.operations) / each.elapsedMs, 0);
      const serverUsPerOperation = ((await serverCpuUs(client)) - beganUs) / operations;
      if (slice > 0) turns[i]!.push({ operationsPerSecond, serverUsPerOperation }); // the first turn warms up
    }
  const rows: Row[] = [];
  for (const [i, layout] of layouts.entries()) {
    const checksum = await countOf(layout);
    if (checksum !== recorded[i]) throw new Error(`${layout.name}: ${checksum} of ${recorded[i]} events are counted`);
    const rates = turns[i]!.map((turn) => turn.operationsPerSecond);
    rows.push({
      layout: layout.name,
      recordsPerSecond: median(rates),
      timesFirst: median(rates.map((rate, turn) => rate / turns[0]![turn]!.operationsPerSecond)),
      serverUsPerRecord: median(turns[i]!.map((turn) => turn.serverUsPerOperation)),
      checksum,
    });
  }
  return {
    bench: "cluster",
    title: `Record into one series, or one per node read as one: ${options.processes} client processes, ${options.callers} callers each`,
    rows,
    notes: [
      "All servers and client processes share this machine's cores (two for the numbers of the pages). With more processes than cores, more primaries cannot add speed here, only their own work.",
      "serverUsPerRecord: CPU time of all primaries per record. A primary with its own core is saturated at 1 000 000 divided by that, and n primaries at n times it. That is the purpose of several series.",
      "timesFirst: over the first line, median over slices that the layouts ran in turn. Series.stats over the parts counted every acknowledged record once.",
    ],
  };
}

/** User and system time of all primaries so far. */
async function serverCpuUs(client: Cluster): Promise<number> {
  const texts = await Promise.all(client.nodes("master").map((node) => node.info("cpu")));
  const seconds = texts.flatMap((text) => [...text.matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)]);
  return seconds.reduce((sum, [, each]) => sum + Number(each) * 1e6, 0);
}

async function countOf({ client, names }: Layout): Promise<number> {
  const store = redisStore(client, { deadline: 10_000 });
  const { count } = await Series.stats(names.map((name) => new Series(store, name, { retention: "10m" })));
  await store.close();
  return count;
}
