// The function oriel_window answers what a brute-force reader of the same events does.
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import "../../../src/entries/index.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { runs } from "../../harness/runs.ts";
import { seeds } from "../../harness/seeds.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { exactMoments } from "../../kernel/oracle.ts";
import { asked, RandomJournal, steppedLibrary } from "./random-journal.ts";

const { minSealedBytes } = constants;
let server: RedisServer;
let redis: Redis;
/** Lua 5.4 has no functions. */
let ways: ("EVAL" | "FCALL")[];

beforeAll(async () => {
  constants.minSealedBytes = 0;
  server = await startRedis();
  redis = new Redis(server.url);
  const loaded = await redis.call("FUNCTION", "LOAD", "REPLACE", steppedLibrary).catch(() => undefined);
  ways = loaded ? ["EVAL", "FCALL"] : ["EVAL"];
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  constants.minSealedBytes = minSealedBytes;
  redis?.disconnect();
  await server?.stop();
});

/** The number of a text, also where it is nan or inf. */
const numberOf = (text: string) => Number(text.replace("inf", "Infinity"));

/** Compares an answer with the events inside its window. Returns their number. */
async function agrees(journal: RandomJournal, reply: Record<string, string>, spanMs: number): Promise<number> {
  const to = numberOf(reply.to!);
  const inside = journal.events.filter(({ t }) => t > to - spanMs && t <= to).map(({ value }) => value);
  const numbers = inside.filter((value) => !Number.isNaN(value));
  const finite = numbers.filter(Number.isFinite);
  const nan = inside.length - numbers.length;
  expect(Object.keys(reply).slice(0, 6)).toEqual(["count", "sum", "mean", "min", "max", "to"]);
  expect([reply.count, reply.nan]).toEqual([`${numbers.length}`, nan > 0 ? `${nan}` : undefined]);
  const inOrder = (a: number, b: number) => a - b || Number(Object.is(b, -0)) - Number(Object.is(a, -0));
  const sorted = Float64Array.from(numbers).sort(inOrder);
  expect(numberOf(reply.min!)).toBe(sorted[0] ?? Number.NaN);
  expect(numberOf(reply.max!)).toBe(sorted.at(-1) ?? Number.NaN);
  if (finite.length < numbers.length) {
    const sum = numbers.filter((value) => !Number.isFinite(value)).reduce((a, b) => a + b);
    expect([numberOf(reply.sum!), numberOf(reply.mean!)]).toEqual([sum, sum]);
  } else {
    const { sum } = exactMoments(Float64Array.from(finite));
    const sizes = finite.reduce((total, value) => total + Math.abs(value), 0);
    const slack = 2 ** -52 * Math.abs(sum) + 2 ** -95 * sizes + 5e-324;
    expect(Math.abs(numberOf(reply.sum!) - sum)).toBeLessThanOrEqual(slack);
    if (finite.length === 0) expect(reply.mean).toBe("nan");
    else expect(Math.abs(numberOf(reply.mean!) - sum / finite.length)).toBeLessThanOrEqual(2 * slack);
  }
  expect(reply.degradedBy).toBe(await journal.degradedBy(to - spanMs));
  return numbers.length;
}

/** Fills a series by random steps, and asks for windows whose edges are at, just before and just after its events. */
async function play(seed: number): Promise<{ answered: number; events: number; sealed: number; overflowed: number }> {
  const journal = new RandomJournal(redis, seed);
  const tally = { answered: 0, events: 0, sealed: 0, overflowed: 0 };
  const most = [5, 60, 1500][journal.below(3)]!;
  for (let step = 0; step < 40; step++) {
    const what = journal.below(20);
    if (what < 10) await journal.append(most);
    else if (what < 14) journal.nowMs += [1, 40, 3000, 10_000, 21_000, -1500][journal.below(6)]!;
    else if (what < 16) await journal.rotate();
    else if (what < 18)
      for (const number of await journal.closed()) tally.sealed += Number(await sealed(journal, number));
    else if (what === 18 && journal.below(6) === 0) await journal.delete();
    else if (what === 19 && journal.below(6) === 0) journal.retentionMs += 30_000;
    if (step % 5 === 4) await askSome(journal, tally);
  }
  await journal.close();
  return tally;
}

async function sealed(journal: RandomJournal, number: number): Promise<boolean> {
  return journal.below(3) > 0 && (await journal.seal(number)) === "sealed";
}

async function askSome(journal: RandomJournal, tally: { answered: number; events: number; overflowed: number }) {
  const times = journal.events.map(({ t }) => t);
  const some = () => (times.length > 0 ? times[journal.below(times.length)]! : journal.nowMs);
  for (let i = 0; i < 6; i++) {
    const retentionMs = (await journal.header()).header?.retentionMs ?? 1000;
    const endMs = [undefined, some(), some() - 1, some() + journal.below(3)][journal.below(4)];
    const beginMs = [some(), some() - 1, some() + 1][journal.below(3)]!;
    const whole = [1, retentionMs, 1000][journal.below(3)]!;
    const spanMs = Math.min(retentionMs, endMs === undefined || endMs <= beginMs ? whole : endMs - beginMs);
    const way = ways[journal.below(ways.length)]!;
    const args = endMs === undefined ? [spanMs] : [spanMs, endMs];
    const reply = await asked(redis, journal, way, ...args).catch((error: Error) => error);
    // Only sums that no f64 holds are refused.
    if (reply instanceof Error) {
      expect(reply.message).toMatch(/^TOO_LARGE the sum of its events/);
      tally.overflowed++;
      continue;
    }
    expect(numberOf(reply.to!)).toBe(endMs ?? (await journal.presentMs()));
    tally.events += await agrees(journal, reply, spanMs);
    tally.answered++;
  }
}

test("answers as brute force does, after any steps, for any window", async () => {
  const { first, count } = seeds(runs(25));
  const total = { answered: 0, events: 0, sealed: 0 };
  for (let seed = first; seed < first + count; seed++) {
    await redis.flushall();
    const played = await play(seed).catch((error: Error) => {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    });
    total.answered += played.answered;
    total.events += played.events;
    total.sealed += played.sealed;
  }
  if (count > 10) expect(Math.min(total.answered / 20, total.events / 100, total.sealed)).toBeGreaterThan(count / 2);
});
