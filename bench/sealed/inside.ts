import { Redis } from "ioredis";
import { composeFunction, luaFolder } from "../../scripts/lua/compose-script.mjs";
import { readHeader } from "../../src/engine/journal/format/chunk.ts";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { countingStore } from "../../test/harness/counting-store.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { lognormal } from "./events.ts";
import { fill, seal } from "./filled.ts";

export interface InsideBench {
  events: readonly number[];
  turns: number;
}

export const FULL_INSIDE: InsideBench = { events: [100_000, 1_000_000], turns: 9 };
export const SMALL_INSIDE: InsideBench = { events: [60_000], turns: 1 };

const NAME = "bench inside";
const SORTED_SET = "bench inside as a sorted set";
const BATCH = 32;
/** Queries before those that are measured, as in the bench of sealed chunks. */
const WARM_UPS = 5;
const MEMBERS_AT_ONCE = 10_000;
/** Without oriel: members of a number and a value by their times, added up by a script. */
const SUM_OF_SORTED_SET = `
local count, sum, min, max = 0, 0, math.huge, -math.huge
for _, member in ipairs(redis.call("ZRANGEBYSCORE", KEYS[1], "(" .. ARGV[1], ARGV[2])) do
  local value = tonumber(string.match(member, ":(.*)"))
  count, sum, min, max = count + 1, sum + value, math.min(min, value), math.max(max, value)
end
local function text(number) return string.format("%.17g", number) end
return { "count", text(count), "sum", text(sum), "min", text(min), "max", text(max) }`;

interface Answer {
  count: number;
  sum: number;
  min: number;
  max: number;
}
interface Asked extends Answer {
  bytes: number;
}
interface Window {
  fromMs: number;
  toMs: number;
}

/** Measures one window of a series inside Redis, in a process without a copy, and of a sorted set of the same events. */
export async function benchInside(redisUrl: string, { events, turns }: InsideBench): Promise<Report> {
  const rows: Row[] = [];
  for (const each of events) rows.push(...(await measure(redisUrl, each, turns)));
  return {
    bench: "inside",
    title: "Count, sum, min and max of the middle half of a series that is sealed",
    rows,
    notes: [
      "Lognormal latencies, median 5 ms, sigma 0.8, float32, rounded to 1 us, one event for each ms, recorded in batches of 32. The edges of the window cut chunks.",
      "serverUs is the time of all commands inside Redis, in which it serves nobody else. bytes are those of the answers. serverUs and ms are medians. The ways were asked in turns.",
      "Each answer was compared with the values: count, min and max exactly, the sum within 1e-12 of it.",
    ],
  };
}

async function measure(redisUrl: string, events: number, turns: number): Promise<Row[]> {
  const raw = new Redis(redisUrl);
  const store = redisStore(raw, { deadline: 60_000, registry: false });
  try {
    const key = store.keyOf(NAME);
    const column = lognormal(events, 1000);
    await seal(store, key, await fill(raw, key, column, BATCH));
    await raw.call("FUNCTION", "LOAD", "REPLACE", composeFunction(`${luaFolder}/journal/window.lua`));
    // A batch has the time of its first event.
    const firstMs = readHeader((await raw.getBuffer(key))!).lastStampMs - BATCH * Math.floor((events - 1) / BATCH);
    const times = Float64Array.from(column, (_, i) => firstMs + i - (i % BATCH));
    await fillSortedSet(raw, column, times);
    const window = { fromMs: firstMs + Math.floor(events / 4), toMs: firstMs + Math.floor((events * 3) / 4) };
    const right = answerOf(column.filter((_, i) => times[i]! > window.fromMs && times[i]! <= window.toMs));
    return await inTurns(raw, waysOf(raw, store, window), right, events, turns);
  } finally {
    await raw.flushdb();
    await store.close();
    raw.disconnect();
  }
}

async function fillSortedSet(raw: Redis, column: Float32Array, times: Float64Array): Promise<void> {
  for (let from = 0; from < column.length; from += MEMBERS_AT_ONCE) {
    const members: (string | number)[] = [];
    for (let i = from; i < Math.min(from + MEMBERS_AT_ONCE, column.length); i++)
      members.push(times[i]!, `${i}:${column[i]}`);
    await raw.zadd(SORTED_SET, ...members);
  }
}

function answerOf(values: Float32Array): Answer {
  const [sum, min, max] = [
    values.reduce((a, b) => a + b, 0),
    values.reduce((a, b) => Math.min(a, b)),
    values.reduce((a, b) => Math.max(a, b)),
  ];
  return { count: values.length, sum, min, max };
}

function waysOf(raw: Redis, store: Store, { fromMs, toMs }: Window): Record<string, () => Promise<Asked>> {
  const spanMs = toMs - fromMs;
  return {
    oriel_window: async () => asked(await raw.call("FCALL_RO", "oriel_window", "1", store.keyOf(NAME), spanMs, toMs)),
    "a process without a copy": async () => {
      const counting = countingStore(store);
      const series = new Series(counting.store, NAME, { retention: "3h" });
      const { count, sum, min, max } = await series.stats({ span: spanMs, at: toMs, percentiles: [] });
      await series.close();
      return { count, sum, min, max, bytes: counting.bytes() };
    },
    "a sorted set, added up in Lua": async () => asked(await raw.eval(SUM_OF_SORTED_SET, 1, SORTED_SET, fromMs, toMs)),
  };
}

/** An answer of names and values. */
function asked(reply: unknown): Asked {
  const words = reply as string[];
  const numberAfter = (name: string) => Number(words[words.indexOf(name) + 1]);
  const bytes = words.reduce((sum, word) => sum + word.length, 0);
  return {
    count: numberAfter("count"),
    sum: numberAfter("sum"),
    min: numberAfter("min"),
    max: numberAfter("max"),
    bytes,
  };
}

/** Asks by each way in turns. Throws if an answer is not the right one. */
async function inTurns(
  raw: Redis,
  ways: Record<string, () => Promise<Asked>>,
  right: Answer,
  events: number,
  turns: number,
): Promise<Row[]> {
  const taken = Object.entries(ways).map(([by, ask]) => ({
    by,
    ask,
    ms: [] as number[],
    us: [] as number[],
    bytes: 0,
  }));
  for (let turn = -WARM_UPS; turn < turns; turn++)
    for (const its of taken) {
      await raw.config("RESETSTAT");
      const startMs = performance.now();
      const answer = await its.ask();
      const ms = performance.now() - startMs;
      const isRight = answer.count === right.count && answer.min === right.min && answer.max === right.max;
      if (!isRight || Math.abs(answer.sum - right.sum) > 1e-12 * right.sum)
        throw new Error(`${its.by} answered ${JSON.stringify(answer)}, not ${JSON.stringify(right)}`);
      its.bytes = answer.bytes;
      if (turn < 0) continue;
      its.ms.push(ms);
      its.us.push(await usOfCommands(raw));
    }
  return taken.map(({ by, ms, us, bytes }) => ({ events, by, serverUs: median(us), ms: median(ms), bytes }));
}

/** The time of the calls of scripts and functions since RESETSTAT. It includes their commands. */
async function usOfCommands(raw: Redis): Promise<number> {
  const text = await raw.info("commandstats");
  const calls = [...text.matchAll(/^cmdstat_(?:fcall_ro|eval|evalsha):calls=\d+,usec=(\d+)/gm)];
  return calls.reduce((sum, [, us]) => sum + Number(us), 0);
}
