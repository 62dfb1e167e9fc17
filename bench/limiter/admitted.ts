import { OrielError } from "../../src/base/errors.ts";
import { Limiter, localDecisions, memoryStore, slidingWindow } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { Random } from "../../test/simulator/world/random.ts";
import type { Report, Row } from "../runner/report.ts";

export interface AdmittedBench {
  seed: number;
  limit: number;
  cases: readonly Case[];
}

interface Case {
  what: string;
  processes: number;
  /** Which processes lose the store: by default all. */
  loses?(process: number): boolean;
  /** The process of the next call: by default any. */
  processOf?(random: Random, processes: number): number;
  /** Processes start anew in the middle of the outage, and have never reached the store. */
  restarts?: boolean;
}

const ALL = "all lose the store";
const CASES: readonly Case[] = [
  ...[1, 4, 16, 64, 256].map((processes) => ({ what: ALL, processes })),
  { what: "half of them lose it", processes: 16, loses: (process) => process % 2 === 0 },
  {
    what: "all, one has half the calls",
    processes: 16,
    processOf: (random, processes) => (random.chance(0.5) ? 0 : random.int(0, processes - 1)),
  },
  { what: "all, and start anew", processes: 16, restarts: true },
];
export const FULL_ADMITTED: AdmittedBench = { seed: 1, limit: 1200, cases: CASES };
export const SMALL_ADMITTED: AdmittedBench = {
  seed: 1,
  limit: 60,
  cases: CASES.filter(({ processes }) => processes <= 16),
};

const SPAN_MS = 60_000;
const TICK_MS = 100;
const BEGIN_MS = 3.5 * SPAN_MS;
const END_MS = 8.25 * SPAN_MS;
const OVER_MS = 10 * SPAN_MS;
/** Calls of all processes for each permit. */
const DEMAND = 3;

/** Counts the calls that limiters admit while processes lose their store, in simulated time. */
export async function benchAdmitted({ seed, limit, cases }: AdmittedBench): Promise<Report> {
  const rows: Row[] = [];
  const systemNow = Date.now;
  try {
    for (const one of cases)
      for (const share of [undefined, 1]) rows.push(rowOf(one, share, limit, await admitted(one, share, seed, limit)));
  } finally {
    Date.now = systemNow;
  }
  return {
    bench: "admitted",
    title: "Calls that a limit admits while its store is away, in % of the limit",
    rows,
    notes: [
      `Seed ${seed}. A sliding window of ${limit} a minute, with ${DEMAND} times as many calls. The store is away for ${(END_MS - BEGIN_MS) / SPAN_MS} minutes of simulated time.`,
      "Counts, which no load of the machine changes. The same seed gives the same numbers.",
    ],
  };
}

/** The largest number in a window that begins before the outage, lies within it, or ends after it; and the mean within it. */
function rowOf({ what, processes }: Case, share: number | undefined, limit: number, timesMs: readonly number[]): Row {
  const percent = (count: number) => (100 * count) / limit;
  const most = (fromMs: number, untilMs: number) => {
    let [largest, first] = [0, 0];
    for (const [i, ms] of timesMs.entries()) {
      while (timesMs[first]! <= ms - SPAN_MS) first++;
      if (ms >= fromMs && ms < untilMs) largest = Math.max(largest, i - first + 1);
    }
    return percent(largest);
  };
  const within = timesMs.filter((ms) => ms >= BEGIN_MS && ms < END_MS).length;
  return {
    what,
    processes,
    share: share === undefined ? "limit ÷ n" : "the whole limit",
    before: most(SPAN_MS, BEGIN_MS),
    begin: most(BEGIN_MS, BEGIN_MS + SPAN_MS),
    during: most(BEGIN_MS + SPAN_MS, END_MS),
    mean: (percent(within) * SPAN_MS) / (END_MS - BEGIN_MS),
    end: most(END_MS, OVER_MS),
  };
}

/** The times of all admitted calls, in order. */
async function admitted(one: Case, share: number | undefined, seed: number, limit: number): Promise<number[]> {
  const { processes, loses = () => true, processOf = (of, all) => of.int(0, all - 1), restarts } = one;
  const random = new Random(seed);
  let nowMs = 0;
  const now = () => nowMs;
  Date.now = now; // the clock of local decisions
  const memory = memoryStore({ clock: now, monotonic: now, registry: false });
  const isAway = (process: number) => loses(process) && nowMs >= BEGIN_MS && nowMs < END_MS;
  const start = (process: number, life: number) => {
    const store: Store = {
      ...memory,
      goesOnWithout: () => {},
      run: (operation, key, input, options) => {
        if (isAway(process))
          return Promise.reject(new OrielError("UNAVAILABLE", "away", { applied: "no", transient: true }));
        // All limiters here are of one process, which would be counted once.
        const own = operation.name === "limiter/processes" ? (`${process} ${life}` as typeof input) : input;
        return memory.run(operation, key, own, options);
      },
    };
    const onStoreError = localDecisions(share === undefined ? {} : { share });
    return new Limiter(store, [slidingWindow({ limit, span: SPAN_MS })], { name: "api", onStoreError });
  };
  const limiters = Array.from({ length: processes }, (_, process) => start(process, 0));
  const timesMs: number[] = [];
  let calls = 0;
  for (; nowMs < OVER_MS; nowMs += TICK_MS) {
    if (restarts && nowMs === (BEGIN_MS + END_MS) / 2) for (const i of limiters.keys()) limiters[i] = start(i, 1);
    for (calls += (DEMAND * limit * TICK_MS) / SPAN_MS; calls >= 1; calls--) {
      const { allowed } = await limiters[processOf(random, processes)]!.take("a");
      if (allowed) timesMs.push(nowMs);
    }
  }
  await memory.close();
  return timesMs;
}
