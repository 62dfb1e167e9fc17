import { Redis } from "ioredis";
import { LIMITER_RIVALS } from "../rivals/limiter/limiter-all.ts";
import { FLEXIBLE } from "../rivals/limiter/limiter-flexible.ts";
import type { Report } from "../runner/report.ts";
import { bytesPerId } from "./limiter-memory.ts";
import { benchMoving, type MovingOptions } from "./limiter-moving.ts";
import { benchStanding } from "./limiter-standing.ts";
import type { LimiterLoad } from "./limiter-visits.ts";

export interface LimitersOptions {
  loads: LimiterLoad[];
  callers: number;
  slices: number;
  sliceMs: number;
  moving: Omit<MovingOptions, "callers">;
  /** Sizes of the memory measurement. */
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
  sliceMs: 150,
  moving: { slices: 3, sliceMs: 600, spanMs: 150 },
  ids: 20,
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
  moving: { slices: 1, sliceMs: 60, spanMs: 20 },
  ids: 5,
};

/** Limiters that processes share through one Redis, on many ids and on one, admitting all calls and half of them. */
export async function benchLimiters(redisUrl: string, options: LimitersOptions): Promise<Report> {
  const { callers, loads, ids } = options;
  const report: Report = {
    bench: "limiters",
    title: `Take one permit of a rate limiter (one Redis, one client, ${callers} callers; ids visited at a time)`,
    rows: [],
    notes: [
      `timesFaster: calls decided per second over those of ${FLEXIBLE.name}'s fixed window in the same turn, median over slices taken in turn.`,
      "In the loads all admitted and half denied no window ends during a run, and the admitted calls of each slice equal the expected number exactly. An id whose limit is spent is called as often again, then a new id replaces it.",
      `In the load with its window moving, exact sliding windows have ${options.moving.spanMs} ms (the reference 1 s, its shortest). The limit is half of the calls decided just before, when all were admitted. No stretch of that length had more.`,
      "bytesPerId is MEMORY USAGE of all keys divided by the ids, each with a spent limit of 100 per minute.",
      "Upstash's scripts run without the flag that only its own server supports. Its client's cache and time-out are off.",
    ],
  };
  const able = LIMITER_RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    else if (rival.oneIdOnly) report.notes.push(`${rival.name} is called for one id only: ${rival.oneIdOnly}.`);
    return !reason;
  });
  // The bench has its own Redis, since the limiters' keys expire only when their windows end.
  const raw = new Redis(redisUrl);
  try {
    for (const load of loads) {
      const fit = able.filter(({ oneIdOnly }) => load.keys === 1 || !oneIdOnly);
      report.rows.push(...(await benchStanding(redisUrl, fit, load, options)));
      await raw.flushdb();
    }
    const sliding = able.filter((rival) => rival === FLEXIBLE || rival.timesLimit === 1);
    report.rows.push(...(await benchMoving(redisUrl, sliding, { callers, ...options.moving })));
    for (const rival of able) {
      const bytes = await bytesPerId(raw, redisUrl, rival, ids);
      for (const row of report.rows) if (row.limiter === rival.name) row.bytesPerId = bytes;
    }
  } finally {
    await raw.quit();
  }
  return report;
}
