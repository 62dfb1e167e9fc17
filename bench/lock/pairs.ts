import type { Redis } from "ioredis";
import { commandsOf } from "../cluster/redis-info.ts";
import type { LockClient } from "../rivals/lock/lock.ts";
import { median, operationsPerSecond, percentile, runSlice, type Slice } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";

/** Clients × callers of each. A client has its own connection (for oriel its own store), as a process has. */
export interface Load {
  clients: number;
  callers: number;
}

/** A rival that acquires and releases in slices of time. */
export interface Runner {
  rival: string;
  clients: Pick<LockClient, "pair">[];
  slices: Slice[];
  /** Number of callers that held the lock or a permit at least once, per slice. */
  served: number[];
  commands: number;
}

export function runnerOf(rival: string): Runner {
  return { rival, clients: [], slices: [], served: [], commands: 0 };
}

/** Lets the runners take turns, after one turn that warms up. At most `limit` callers may hold at a time. */
export async function takeSlices(
  raw: Redis,
  runners: readonly Runner[],
  limit: number,
  load: Load,
  { slices, sliceMs }: { slices: number; sliceMs: number },
): Promise<void> {
  for (let turn = 0; turn <= slices; turn++)
    for (const runner of runners) {
      const before = await commandsOf(raw);
      const had = new Set<number>();
      const slice = await limitedSlice(runner, limit, load, sliceMs, had);
      if (turn === 0) continue;
      runner.slices.push(slice);
      runner.served.push(had.size);
      runner.commands += (await commandsOf(raw)) - before;
    }
}

/** Runs a slice and checks the limit. */
function limitedSlice(
  { rival, clients }: Runner,
  limit: number,
  load: Load,
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

/** A row of each runner, compared with oriel's. */
export function rowsOf(runners: readonly Runner[], load: Load): Row[] {
  const reference = runners.find(({ rival }) => rival === "oriel")!;
  return runners.map(({ rival, slices, served, commands }) => {
    const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
    const rates = slices.map(operationsPerSecond);
    return {
      load: `${load.clients} × ${load.callers}`,
      lock: rival,
      pairsPerSecond: median(rates),
      timesSlower: median(rates.map((rate, turn) => operationsPerSecond(reference.slices[turn]!) / rate)),
      p50Ms: percentile(latenciesMs, 50),
      p99Ms: percentile(latenciesMs, 99),
      served: median(served),
      commandsPerPair: commands / latenciesMs.length,
    };
  });
}
