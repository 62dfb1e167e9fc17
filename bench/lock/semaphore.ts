import { Redis } from "ioredis";
import { commandsOf } from "../cluster/redis-info.ts";
import type { LockClient } from "../rivals/lock/lock.ts";
import { openClients, SEMAPHORE_KINDS, type SemaphoreKind } from "../rivals/lock/semaphore.ts";
import { median, operationsPerSecond, percentile, runSlice, type Slice } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import type { LockLoad } from "./lock.ts";

export interface SemaphoreBenchOptions {
  loads: LockLoad[];
  slices: number;
  sliceMs: number;
}

export const FULL_SEMAPHORE: SemaphoreBenchOptions = {
  loads: [
    { clients: 1, callers: 1 },
    { clients: 1, callers: 20 },
    { clients: 20, callers: 1 },
  ],
  slices: 5,
  sliceMs: 400,
};
export const SMALL_SEMAPHORE: SemaphoreBenchOptions = { loads: [{ clients: 2, callers: 3 }], slices: 1, sliceMs: 20 };

interface Runner {
  rival: string;
  clients: Pick<LockClient, "pair">[];
  slices: Slice[];
  served: number[];
  commands: number;
}

/** Acquires and releases permits, and locks of three servers, free and contended, on one Redis. The holders do nothing. */
export async function benchSemaphore(redisUrl: string, options: SemaphoreBenchOptions): Promise<Report> {
  const report: Report = {
    bench: "semaphore",
    title:
      "Acquire and release a permit of five, or a lock of three servers (clients × callers of each; all want the same)",
    rows: [],
    notes: [
      "The servers are databases of one Redis. Columns are those of the bench lock.",
      "redis-semaphore's permits end by the clients' clocks, and its waiters poll every 10 ms.",
    ],
  };
  const raw = new Redis(redisUrl);
  try {
    for (const kind of SEMAPHORE_KINDS)
      for (const load of options.loads) report.rows.push(...(await benchLoad(raw, redisUrl, kind, load, options)));
  } finally {
    await raw.quit();
  }
  return report;
}

async function benchLoad(
  raw: Redis,
  redisUrl: string,
  { kind, limit, servers, rivals }: SemaphoreKind,
  load: LockLoad,
  { slices, sliceMs }: SemaphoreBenchOptions,
): Promise<Row[]> {
  const connections: Redis[] = [];
  const runners = Object.entries(rivals).map(([rival, open]): Runner => {
    const clients = Array.from({ length: load.clients }, () => {
      const own = openClients(redisUrl, servers);
      connections.push(...own);
      return open(own, `bench ${kind} ${rival}`);
    });
    return { rival, clients, slices: [], served: [], commands: 0 };
  });
  try {
    for (let turn = 0; turn <= slices; turn++)
      for (const runner of runners) {
        const before = await commandsOf(raw);
        const had = new Set<number>();
        const slice = await limitedSlice(runner, limit, load, sliceMs, had);
        if (turn === 0) continue; // the first turn warms up
        runner.slices.push(slice);
        runner.served.push(had.size);
        runner.commands += (await commandsOf(raw)) - before;
      }
  } finally {
    for (const each of connections) each.disconnect();
  }
  const reference = runners.find(({ rival }) => rival === "oriel")!;
  return runners.map((runner) => row(kind, runner, load, reference));
}

/** Runs a slice and checks that never more than the limit hold a permit. */
function limitedSlice(
  { rival, clients }: Runner,
  limit: number,
  load: LockLoad,
  sliceMs: number,
  had: Set<number>,
): Promise<Slice> {
  let inside = 0;
  const step = async () => {
    if (++inside > limit) throw new Error(`${rival} let ${inside} in, and the limit is ${limit}`);
    await Promise.resolve();
    inside--;
  };
  return runSlice({ callers: load.clients * load.callers, sliceMs, minOperations: 1 }, async (signal, caller) => {
    const done = await clients[caller % load.clients]!.pair(signal, step);
    if (done) had.add(caller);
    return done;
  });
}

function row(kind: string, { rival, slices, served, commands }: Runner, load: LockLoad, reference: Runner): Row {
  const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
  const rates = slices.map(operationsPerSecond);
  return {
    kind,
    load: `${load.clients} × ${load.callers}`,
    lock: rival,
    pairsPerSecond: median(rates),
    timesSlower: median(rates.map((rate, turn) => operationsPerSecond(reference.slices[turn]!) / rate)),
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    served: median(served),
    commandsPerPair: commands / latenciesMs.length,
  };
}
