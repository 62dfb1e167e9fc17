import { redisStore, Series } from "../../src/entries/index.ts";
import { latencies } from "../events.ts";
import { type Contender, takeTurns } from "../lock/turns.ts";
import type { Report, Row } from "../runner/report.ts";

export interface ServerOptions {
  /** Events in the window. */
  sizes: number[];
  /** Events in one frame: 1, or a batch. */
  batches: number[];
  turns: number;
  /** Questions of each contender per turn, one after the other. */
  questions: number;
}

export const FULL_SERVER: ServerOptions = {
  sizes: [10, 100, 1_000, 10_000],
  batches: [1, 64],
  turns: 9,
  questions: 20,
};
export const SMALL_SERVER: ServerOptions = { sizes: [10, 100], batches: [8], turns: 1, questions: 2 };

const QUESTION = { span: "1h", percentiles: [50, 90, 99] } as const;

/** One caller's `stats`, answered inside Redis or by the process: cold, with nothing of the series, or resident. */
export async function benchServer(redisUrl: string, options: ServerOptions): Promise<Report> {
  const rows: Row[] = [];
  for (const batch of options.batches)
    for (const size of options.sizes) rows.push(await measure(redisUrl, size, batch, options));
  return {
    bench: "server",
    title:
      'stats({ where: "server" }) against the client: one caller, ms per answer (all statistics, three percentiles)',
    rows,
    notes: [
      "A cold Series is new and reads the window's chunks first. A resident one has read every event. timesCold and timesResident are how many times faster the answer inside Redis is, median over turns.",
      "replyBytes is the size of the answer from inside Redis. A cold Series reads 4 B an event and 16 B a frame.",
      ...options.batches.map((batch) => crossoverOf(rows, batch)),
      "Redis serves no other client while it computes. Each process has a kernel of its own, so kernels scale with the number of processes. The server does not.",
    ],
  };
}

async function measure(redisUrl: string, size: number, batch: number, options: ServerOptions): Promise<Row> {
  const store = redisStore(redisUrl, { deadline: 10_000 });
  const name = `bench server ${size} ${batch}`;
  const resident = new Series(store, name);
  try {
    const values = latencies(size, 5);
    for (let from = 0; from < size; from += batch) await resident.recordMany(values.subarray(from, from + batch));
    const inside = new Series(store, name);
    const contender = (name: string, ask: () => Promise<{ count: number }>): Contender => ({
      name,
      async turnUs() {
        const startMs = performance.now();
        for (let i = 0; i < options.questions; i++) {
          const { count } = await ask();
          if (count !== size) throw new Error(`${name} counted ${count} of ${size} events`);
        }
        return ((performance.now() - startMs) * 1000) / options.questions;
      },
    });
    const contenders = [
      contender("server", () => inside.stats({ ...QUESTION, where: "server" })),
      contender("cold", () => new Series(store, name).stats(QUESTION)),
      contender("resident", () => resident.stats(QUESTION)),
    ];
    await takeTurns(contenders, 1); // warms up
    const turns = await takeTurns(contenders, options.turns);
    return {
      events: size,
      batch,
      serverMs: turns.medianUs("server") / 1000,
      coldMs: turns.medianUs("cold") / 1000,
      residentMs: turns.medianUs("resident") / 1000,
      timesCold: turns.timesFaster("server", "cold"),
      timesResident: turns.timesFaster("server", "resident"),
      replyBytes: 24 + 64 + 64 + QUESTION.percentiles.length * 5 * 8,
    };
  } finally {
    await resident.delete();
    await resident.close();
    await store.close();
  }
}

/** The largest window that the server answers sooner than a process with no cached copy. */
function crossoverOf(rows: readonly Row[], batch: number): string {
  const sooner = rows
    .filter((row) => row.batch === batch && Number(row.timesCold) > 1)
    .map((row) => Number(row.events));
  const what = batch === 1 ? "recorded alone" : `in batches of ${batch}`;
  return sooner.length === 0
    ? `Crossover, events ${what}: a cold client is sooner at every size measured.`
    : `Crossover, events ${what}: where: "server" is sooner than a cold client up to ${Math.max(...sooner)} events of those measured.`;
}
