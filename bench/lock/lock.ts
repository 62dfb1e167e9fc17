import { Redis } from "ioredis";
import { commandsOf } from "../cluster/redis-info.ts";
import { LOCK_RIVALS, type LockClient, type LockRival } from "../rivals/lock/lock.ts";
import { median, operationsPerSecond, percentile, runSlice, type Slice } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { measureHandOvers } from "./lock-hand-over.ts";

/** Clients × callers of each. A client has its own connection (for oriel its own store), as a process has. */
export interface LockLoad {
  clients: number;
  callers: number;
}

export interface LockBenchOptions {
  loads: LockLoad[];
  slices: number;
  sliceMs: number;
  handOvers: number;
}

export const FULL_LOCK: LockBenchOptions = {
  loads: [
    { clients: 1, callers: 1 },
    { clients: 1, callers: 50 },
    { clients: 50, callers: 1 },
  ],
  slices: 5,
  sliceMs: 400,
  handOvers: 60,
};
export const SMALL_LOCK: LockBenchOptions = {
  loads: [
    { clients: 1, callers: 1 },
    { clients: 2, callers: 2 },
  ],
  slices: 1,
  sliceMs: 20,
  handOvers: 2,
};

interface Runner {
  rival: LockRival;
  clients: LockClient[];
  slices: Slice[];
  /** Number of callers that held the lock at least once, per slice. */
  served: number[];
  commands: number;
}

/** Acquires and releases one lock, free and contended, on one Redis. The holder does nothing. */
export async function benchLock(redisUrl: string, options: LockBenchOptions): Promise<Report> {
  const report: Report = {
    bench: "lock",
    title: "Acquire and release a lock (one Redis; clients × callers of each; all want the same lock)",
    rows: [],
    notes: [
      "timesSlower: oriel's pairs per second over this line's, median over slices that the rivals ran in turn.",
      "p50Ms and p99Ms are the times from the request for the lock until its release. served is the number of callers that held the lock at least once in a slice, median. A rival is fast when one caller releases and retakes the lock at once, but the others wait.",
      "handOverP50Ms, handOverP99Ms: from the release of one client until another one, which waits, has the lock.",
      "commandsPerPair counts the commands that the server executed, including those in scripts.",
      "redlock's waiting cannot be aborted, so its slice ends when its last caller has held the lock or given up (10 s).",
    ],
  };
  const able = LOCK_RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    return !reason;
  });
  const handOvers = await measureHandOvers(able, redisUrl, options.handOvers);
  const raw = new Redis(redisUrl);
  try {
    for (const load of options.loads)
      for (const row of await benchLoad(raw, redisUrl, able, load, options))
        report.rows.push({ ...row, ...handOvers.get(String(row.lock)) });
  } finally {
    await raw.quit();
  }
  return report;
}

async function benchLoad(
  raw: Redis,
  redisUrl: string,
  rivals: readonly LockRival[],
  load: LockLoad,
  { slices, sliceMs }: LockBenchOptions,
): Promise<Row[]> {
  const runners: Runner[] = [];
  try {
    for (const rival of rivals) {
      const runner: Runner = { rival, clients: [], slices: [], served: [], commands: 0 };
      runners.push(runner);
      for (let i = 0; i < load.clients; i++) runner.clients.push(await rival.open(redisUrl, `bench ${rival.name}`));
    }
    for (let turn = 0; turn <= slices; turn++)
      for (const runner of runners) {
        const before = await commandsOf(raw);
        const had = new Set<number>();
        const slice = await exclusiveSlice(runner, load, sliceMs, had);
        if (turn === 0) continue; // the first turn warms up
        runner.slices.push(slice);
        runner.served.push(had.size);
        runner.commands += (await commandsOf(raw)) - before;
      }
  } finally {
    for (const { clients } of runners) await Promise.all(clients.map((client) => client.close()));
  }
  const reference = runners.find(({ rival }) => rival.name === "oriel") as Runner;
  return runners.map((runner) => row(runner, load, reference));
}

/** Runs a slice and checks that never two callers hold the lock. */
function exclusiveSlice({ rival, clients }: Runner, load: LockLoad, sliceMs: number, had: Set<number>): Promise<Slice> {
  let inside = 0;
  const step = async () => {
    if (++inside > 1) throw new Error(`${rival.name} let two in`);
    await Promise.resolve();
    inside--;
  };
  return runSlice({ callers: load.clients * load.callers, sliceMs, minOperations: 1 }, async (signal, caller) => {
    const done = await clients[caller % load.clients]!.pair(signal, step);
    if (done) had.add(caller);
    return done;
  });
}

function row({ rival, slices, served, commands }: Runner, load: LockLoad, reference: Runner): Row {
  const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
  const rates = slices.map(operationsPerSecond);
  return {
    load: `${load.clients} × ${load.callers}`,
    lock: rival.name,
    pairsPerSecond: median(rates),
    timesSlower: median(rates.map((rate, turn) => operationsPerSecond(reference.slices[turn] as Slice) / rate)),
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    served: median(served),
    commandsPerPair: commands / latenciesMs.length,
  };
}
