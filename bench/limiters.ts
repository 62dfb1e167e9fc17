import { Redis } from "ioredis";
import { bytesPerId } from "./limiter-memory.ts";
import { type LimiterLoad, LimiterVisits, limitOf } from "./limiter-visits.ts";
import { median, operationsPerSecond, runSlice, type Slice } from "./measure.ts";
import type { Report, Row } from "./report.ts";
import type { LimiterClient, LimiterRival } from "./rivals/limiter.ts";
import { LIMITER_RIVALS } from "./rivals/limiter-all.ts";
import { FLEXIBLE } from "./rivals/limiter-flexible.ts";

export interface LimitersOptions {
  loads: LimiterLoad[];
  callers: number;
  slices: number;
  sliceMs: number;
  /** Of the pass that measures memory. */
  ids: number;
}

export const FULL_LIMITERS: LimitersOptions = {
  loads: [
    { keys: 10_000, denies: "none", limit: 2 },
    { keys: 10_000, denies: "half", limit: 2 },
    { keys: 1, denies: "none", limit: 500 },
    { keys: 1, denies: "half", limit: 500 },
  ],
  callers: 1_000,
  slices: 5,
  sliceMs: 200,
  ids: 100,
};
export const SMALL_LIMITERS: LimitersOptions = {
  loads: [
    { keys: 20, denies: "none", limit: 2 },
    { keys: 20, denies: "half", limit: 2 },
    { keys: 1, denies: "none", limit: 10 },
    { keys: 1, denies: "half", limit: 10 },
  ],
  callers: 10,
  slices: 1,
  sliceMs: 20,
  ids: 5,
};

/** No window ends, and no bucket leaks a permit, while a bench runs: what must be admitted is known to the call. */
const SPAN_MS = 21 * 86_400_000;

interface Runner {
  rival: LimiterRival;
  client: LimiterClient;
  visits: LimiterVisits;
  slices: Slice[];
  decided: number;
  denied: number;
}

/** Limiters that processes share through one Redis, on many ids and on one, admitting all calls and half of them. */
export async function benchLimiters(redisUrl: string, options: LimitersOptions): Promise<Report> {
  const { callers, loads, ids } = options;
  const report: Report = {
    bench: "limiters",
    title: `Take one permit of a rate limiter (one Redis, one client, ${callers} callers; ids visited at a time)`,
    rows: [],
    notes: [
      `timesFaster: calls decided per second over those of ${FLEXIBLE.name}'s fixed window in the same turn, median over slices taken in turn.`,
      "What each rival admitted in each slice was compared with what it had to, exactly.",
      "Windows are so long that none ends in a run. deniedShare: an id whose limit is spent is called as often again, then gives way to a fresh one.",
      "bytesPerId: MEMORY USAGE of all keys over ids, each with a limit of 100 per minute that is spent.",
      "Upstash's scripts run without the flag that only its own server knows, its client's cache and timeout are off.",
    ],
  };
  const able = LIMITER_RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    else if (rival.oneIdOnly) report.notes.push(`${rival.name} is called for one id only: ${rival.oneIdOnly}.`);
    return !reason;
  });
  // The Redis is the bench's own: what limiters leave behind expires only when their windows end.
  const raw = new Redis(redisUrl);
  try {
    const bytes = new Map<string, number>();
    for (const rival of able) bytes.set(rival.name, await bytesPerId(raw, redisUrl, rival, ids));
    for (const load of loads) {
      const fit = able.filter(({ oneIdOnly }) => load.keys === 1 || !oneIdOnly);
      for (const row of await benchLoad(redisUrl, fit, load, options))
        report.rows.push({ ...row, bytesPerId: bytes.get(String(row.limiter)) as number });
      await raw.flushdb();
    }
  } finally {
    await raw.quit();
  }
  return report;
}

async function benchLoad(
  redisUrl: string,
  rivals: readonly LimiterRival[],
  load: LimiterLoad,
  { callers, slices, sliceMs }: LimitersOptions,
): Promise<Row[]> {
  const runners: Runner[] = [];
  try {
    for (const [i, rival] of rivals.entries()) {
      const client = await rival.open(redisUrl, { limit: limitOf(load), spanMs: SPAN_MS });
      runners.push({ rival, client, visits: new LimiterVisits(load, `user ${i}`), slices: [], decided: 0, denied: 0 });
    }
    for (let turn = 0; turn <= slices; turn++)
      for (const runner of runners) {
        const leastOperations = turn === 0 ? runner.visits.warmUp : 2 * load.limit;
        const slice = await checkedSlice(runner, { callers, sliceMs, leastOperations }, turn > 0);
        if (turn > 0) runner.slices.push(slice);
      }
  } finally {
    for (const { client } of runners) await client.close();
  }
  const reference = runners.find(({ rival }) => rival === FLEXIBLE);
  return runners.map((runner) => row(runner, load, reference));
}

/** A slice of which exactly so many calls are admitted as the limit lets pass. */
async function checkedSlice(runner: Runner, load: Parameters<typeof runSlice>[0], counts: boolean): Promise<Slice> {
  const { rival, client, visits } = runner;
  const dueBefore = visits.due;
  let admitted = 0;
  const slice = await runSlice(load, async () => {
    if (await client.take(visits.next())) admitted++;
    return true;
  });
  const due = visits.due - dueBefore;
  if (admitted !== due)
    throw new Error(`${rival.name} admitted ${admitted} of ${slice.operations} calls; right is ${due}`);
  if (counts) {
    runner.decided += slice.operations;
    runner.denied += slice.operations - admitted;
  }
  return slice;
}

function row({ rival, slices, decided, denied }: Runner, load: LimiterLoad, reference: Runner | undefined): Row {
  const rates = slices.map(operationsPerSecond);
  const references = reference?.slices.map(operationsPerSecond);
  return {
    ids: load.keys,
    denies: load.denies,
    limiter: rival.name,
    kind: rival.kind,
    opsPerSecond: median(rates),
    timesFaster: median(rates.map((rate, turn) => rate / (references?.[turn] ?? Number.NaN))),
    deniedShare: denied / decided,
  };
}
