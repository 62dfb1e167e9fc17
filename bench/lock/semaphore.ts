import { Redis } from "ioredis";
import { openClients, SEMAPHORE_KINDS, type SemaphoreKind } from "../rivals/lock/semaphore.ts";
import type { Report, Row } from "../runner/report.ts";
import { type Load, rowsOf, runnerOf, takeSlices } from "./pairs.ts";

export interface SemaphoreBenchOptions {
  loads: Load[];
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
  load: Load,
  options: SemaphoreBenchOptions,
): Promise<Row[]> {
  const connections: Redis[] = [];
  const runners = Object.entries(rivals).map(([rival, open]) => {
    const runner = runnerOf(rival);
    for (let i = 0; i < load.clients; i++) {
      const own = openClients(redisUrl, servers);
      connections.push(...own);
      runner.clients.push(open(own, `bench ${kind} ${rival}`));
    }
    return runner;
  });
  try {
    await takeSlices(raw, runners, limit, load, options);
  } finally {
    for (const each of connections) each.disconnect();
  }
  return rowsOf(runners, load).map((row) => ({ kind, ...row }));
}
