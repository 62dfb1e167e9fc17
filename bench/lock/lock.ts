import { Redis } from "ioredis";
import { LOCK_RIVALS, type LockClient, type LockRival } from "../rivals/lock/lock.ts";
import type { Report, Row } from "../runner/report.ts";
import { measureHandOvers } from "./lock-hand-over.ts";
import { type Load, type Runner, rowsOf, runnerOf, takeSlices } from "./pairs.ts";

export interface LockBenchOptions {
  loads: Load[];
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
  load: Load,
  options: LockBenchOptions,
): Promise<Row[]> {
  const clients: LockClient[] = [];
  const runners: Runner[] = [];
  try {
    for (const rival of rivals) {
      const runner = runnerOf(rival.name);
      runners.push(runner);
      for (let i = 0; i < load.clients; i++) {
        const client = await rival.open(redisUrl, `bench ${rival.name}`);
        clients.push(client);
        runner.clients.push(client);
      }
    }
    await takeSlices(raw, runners, 1, load, options);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
  return rowsOf(runners, load);
}
