import { Redis } from "ioredis";
import { constants } from "../../src/engine/journal/format/constants.ts";
import { GROUPS_RIVALS } from "../rivals/groups/all.ts";
import type { GroupsAsk, GroupsRival, GroupsWindow } from "../rivals/groups/contract.ts";
import { median, percentile } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { type Calls, calls, GROUPS, METHODS, type P99s, p99sOf, ROUTES, type RowsBy } from "./calls.ts";

export interface GroupsOptions {
  events: readonly number[];
  /** Events that are recorded in one turn of the event loop. */
  perTurn: number;
  warmups: number;
  repetitions: number;
  /** Whether to wait until the idle chunks are closed and sealed. */
  isSettled: boolean;
}

export const FULL_GROUPS: GroupsOptions = {
  ...{ events: [10_000, 100_000, 1_000_000], perTurn: 1000, warmups: 10, repetitions: 11, isSettled: true },
};
export const SMALL_GROUPS: GroupsOptions = {
  ...{ events: [3000], perTurn: 1000, warmups: 0, repetitions: 1, isSettled: false },
};

const NAME = "bench groups";
/** Batches that a recorder records before another one has its turn. */
const BATCHES = 10;
const ROWS = { route: `${ROUTES} routes`, group: `${GROUPS} groups` } as const;
/** After this long without a change, no process closes or seals a chunk. */
const SETTLED_MS = constants.idleMs + constants.sealAfterMs + constants.sealSpreadMs;

/** The columns of a question, and those of a way to keep events. */
const NO_ANSWER = { rows: "", ms: "" };
const NOT_KEPT = { eventsPerSecond: "", bytesPerEvent: "", bytesPerGroup: "", errorPercent: "", worstErrorPercent: "" };

interface Opened {
  rival: GroupsRival;
  name: string;
  window: GroupsWindow;
  recordMs: number[];
}

/** Calls by route and method: recording them, the p99 of each row, and the bytes of Redis. */
export async function benchGroups(redisUrl: string, options: GroupsOptions): Promise<Report> {
  const report: Report = {
    bench: "groups",
    title: `Calls of ${ROUTES} routes by ${METHODS.length} methods: record them, and the p99 of each row`,
    rows: [],
    notes: [
      `Zipf: of the nth route come 1/n as many calls as of the first, and so it is with methods. Latencies are lognormal, median 5 ms, sigma 0.8, float32, rounded to 1 us. ${options.perTurn} calls are recorded one by one in each turn of the event loop.`,
      "ms is the median of a question. oriel answers all statistics of each row, the others the p99 alone. Without a copy: a new object over an open connection, which fetches events and names. Each is asked twice in a turn, and the second time is measured.",
      "bytesPerEvent is MEMORY USAGE of all keys, after the writers have sealed what they seal. bytesPerGroup is that of groups with one event each, for each group.",
      "errorPercent is the median over groups of the error of a p99, worstErrorPercent the largest. Each exact answer was compared with brute force.",
      "prom-client is in the memory of one process. pandas and DuckDB are in the memory of their own. They and PostgreSQL have numbers in place of labels.",
    ],
  };
  const able = GROUPS_RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    return !reason;
  });
  for (const events of options.events) report.rows.push(...(await measure(redisUrl, able, calls(events, 5), options)));
  return report;
}

async function measure(redisUrl: string, rivals: readonly GroupsRival[], its: Calls, options: GroupsOptions) {
  const redis = new Redis(redisUrl);
  const events = its.values.length;
  const opened: Opened[] = [];
  try {
    for (const [i, rival] of rivals.entries()) {
      const name = `${NAME} ${i}`;
      opened.push({ rival, name, window: await rival.open(its, redisUrl, name), recordMs: [] });
    }
    await recordAll(opened, events, options.perTurn);
    if (options.isSettled) await settled(redis);
    const right = { route: p99sOf(its, "route"), group: p99sOf(its, "group") };
    const asked = await askAll(opened, right, options);
    const rows: Row[] = [];
    for (const each of opened)
      rows.push({ ...(await keptRow(redisUrl, redis, each, events, options)), ...asked.errors.get(each.rival.name) });
    return [...asked.rows.map((row) => ({ events, ...row })), ...rows];
  } finally {
    for (const { window } of opened) await window.close();
    await redis.flushdb();
    redis.disconnect();
  }
}

/** The speed of recording, and the bytes of Redis. */
async function keptRow(
  redisUrl: string,
  redis: Redis,
  { rival, name, recordMs }: Opened,
  events: number,
  { perTurn }: GroupsOptions,
): Promise<Row> {
  const row: Row = { events, by: rival.name, ...NO_ANSWER, ...NOT_KEPT };
  if (recordMs.length > 0) row.eventsPerSecond = (perTurn / median(recordMs)) * 1000;
  if (!rival.isInRedis) return row;
  const bytesPerEvent = (await bytesOf(redis, name)) / events;
  return { ...row, bytesPerEvent, bytesPerGroup: await bytesPerGroup(redisUrl, redis, rival) };
}

/**
 * The recorders take turns of some batches each. The first one may pay for the garbage of the rival before, so most batches follow another
 * one of the same recorder.
 */
async function recordAll(opened: readonly Opened[], events: number, perTurn: number): Promise<void> {
  for (let turn = 0; turn < events; turn += BATCHES * perTurn)
    for (const { window, recordMs } of opened) {
      const end = Math.min(events, turn + BATCHES * perTurn);
      for (let from = turn; window.record && from < end; from += perTurn) {
        const startMs = performance.now();
        await window.record(from, Math.min(end, from + perTurn));
        recordMs.push(performance.now() - startMs);
      }
    }
}

async function askAll(opened: readonly Opened[], right: Record<RowsBy, P99s>, { warmups, repetitions }: GroupsOptions) {
  const questions = opened.flatMap(({ rival, window }) =>
    window.asks.flatMap((its) => its.rows.map((by) => ({ rival, its, by, ms: [] as number[] }))),
  );
  const errors = new Map<string, Row>();
  for (let turn = 0; turn < warmups + repetitions; turn++)
    for (const { rival, its, by, ms } of questions) {
      // Not measured: it may pay for the garbage of the rivals before it, some 100 MB.
      await its.ask(by);
      const answer = await its.ask(by);
      const found = errorsOf(its, answer.p99s, right[by]);
      if (!rival.isEstimate && !(found.worstErrorPercent <= 1e-4))
        throw new Error(`${its.name}: a p99 is wrong by ${found.worstErrorPercent} %`);
      if (by === "group") errors.set(rival.name, rival.isEstimate ? found : { errorPercent: 0, worstErrorPercent: 0 });
      if (turn >= warmups) ms.push(answer.ms);
    }
  const order = (by: RowsBy) => questions.filter((each) => each.by === by);
  const rows = [...order("route"), ...order("group")].map(
    ({ its, by, ms }): Row => ({ by: its.name, rows: ROWS[by], ms: median(ms), ...NOT_KEPT }),
  );
  return { rows, errors };
}

function errorsOf({ name }: GroupsAsk, p99s: P99s, right: P99s) {
  if (p99s.size !== right.size) throw new Error(`${name} answered ${p99s.size} rows; right are ${right.size}`);
  const errors = [...right].map(([row, p99]) => (100 * Math.abs((p99s.get(row) ?? Number.NaN) - p99)) / p99);
  return { errorPercent: percentile(errors, 50), worstErrorPercent: percentile(errors, 100) };
}

/** One event of each group. */
async function bytesPerGroup(redisUrl: string, redis: Redis, rival: GroupsRival): Promise<number> {
  const name = `${NAME} one ${rival.name}`;
  const numbers = (numberOf: (group: number) => number) => Int32Array.from({ length: GROUPS }, (_, i) => numberOf(i));
  const one: Calls = {
    values: new Float32Array(GROUPS).fill(12.5),
    routes: numbers((group) => Math.floor(group / METHODS.length)),
    methods: numbers((group) => group % METHODS.length),
  };
  const window = await rival.open(one, redisUrl, name);
  await window.record!(0, GROUPS);
  await window.close();
  return (await bytesOf(redis, name)) / GROUPS;
}

/** MEMORY USAGE of the keys of all names that begin so. */
async function bytesOf(redis: Redis, name: string): Promise<number> {
  const keys = new Set<string>();
  for await (const some of redis.scanStream({ match: `oriel:{${name}[} ]*`, count: 1000 }))
    for (const key of some as string[]) keys.add(key);
  const sizes = await Promise.all([...keys].map((key) => redis.memory("USAGE", key)));
  return sizes.reduce<number>((sum, bytes) => sum + Number(bytes), 0);
}

/** Waits until the writers have closed and sealed their idle chunks. */
async function settled(redis: Redis): Promise<void> {
  let bytes = Number.NaN;
  for (let sinceMs = performance.now(); performance.now() - sinceMs < SETTLED_MS; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const now = await bytesOf(redis, NAME);
    if (now !== bytes) sinceMs = performance.now();
    bytes = now;
  }
}
