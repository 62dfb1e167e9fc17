import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { benchLimiterIds, SMALL_LIMITER_IDS } from "../../bench/limiter/limiter-ids.ts";
import { benchMoving, maxWithin } from "../../bench/limiter/limiter-moving.ts";
import { benchStanding } from "../../bench/limiter/limiter-standing.ts";
import { LimiterVisits } from "../../bench/limiter/limiter-visits.ts";
import { benchLimiters, SMALL_LIMITERS } from "../../bench/limiter/limiters.ts";
import type { LimiterRival } from "../../bench/rivals/limiter/limiter.ts";
import { LIMITER_RIVALS } from "../../bench/rivals/limiter/limiter-all.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server.stop());

const able = LIMITER_RIVALS.filter((rival) => {
  const reason = rival.missing();
  if (reason) console.warn(`skipped: ${rival.name}: ${reason}`);
  return !reason;
});

/** No aligned window ends within a test. */
const SPAN_MS = 21 * 86_400_000;

describe("rivals", () => {
  test.each(able)("$name admits exactly the first calls of an id up to its limit", async (rival) => {
    const client = await rival.open(server.url, { limit: 5, spanMs: SPAN_MS });
    const admitted: boolean[] = [];
    for (let i = 0; i < 10; i++) admitted.push(await client.take(`first ${rival.name}`));
    expect(admitted).toEqual([true, true, true, true, true, false, false, false, false, false]);
    expect(await client.take(`second ${rival.name}`)).toBe(true);
    await client.close();
  });

  test.each(able)("$name admits no more calls if they are concurrent", async (rival) => {
    const client = await rival.open(server.url, { limit: 5, spanMs: SPAN_MS });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.take(`together ${rival.name}`)));
    expect(answers.filter(Boolean)).toHaveLength(5);
    await client.close();
  });
});

describe("visits", () => {
  test("are due as often as their ids have permits, and half of each stretch is denied", () => {
    const counts = { keys: fc.integer({ min: 1, max: 30 }), limit: fc.integer({ min: 1, max: 8 }) };
    fc.assert(
      fc.property(fc.record(counts), fc.nat(500), ({ keys, limit }, more) => {
        const visits = new LimiterVisits({ keys, denies: "half", limit }, "id");
        const taken = new Map<string, number>();
        let admitted = 0;
        const visit = () => {
          const id = visits.next();
          taken.set(id, (taken.get(id) ?? 0) + 1);
          if ((taken.get(id) as number) <= limit) admitted++;
        };
        for (let i = 0; i < visits.warmUp; i++) visit();
        const [visitsBefore, admittedBefore] = [visits.visits, admitted];
        for (let i = 0; i < more; i++) visit();
        expect(visits.due).toBe(admitted);
        // Keys beside whole sets of ages are off by up to a limit each, the turn that has not gone round by two.
        const half = (visits.visits - visitsBefore) / 2;
        expect(Math.abs(admitted - admittedBefore - half)).toBeLessThanOrEqual(limit * (2 + (keys % (2 * limit))));
      }),
    );
  });
});

test("the largest number of calls in a span counts calls that were sent and answered in it", () => {
  const call = fc.record({ sentMs: fc.nat(50), tookMs: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 40 }), fc.integer({ min: 4, max: 30 }), (calls, widthMs) => {
      const sent = calls.map(({ sentMs }) => sentMs);
      const answered = calls.map(({ sentMs, tookMs }) => sentMs + tookMs);
      const within = answered.map(
        (endMs) => calls.filter((_, i) => sent[i]! >= endMs - widthMs && answered[i]! <= endMs).length,
      );
      expect(maxWithin(widthMs, sent, answered)).toBe(Math.max(0, ...within));
    }),
  );
});

test("the bench fails if a limiter admits too many calls or too few, also while its window moves", async () => {
  const answering = (name: string, answer: boolean): LimiterRival => ({
    name,
    kind: "exact sliding window",
    timesLimit: 1,
    missing: () => undefined,
    open: async () => ({ take: () => new Promise((resolve) => setImmediate(resolve, answer)), close: async () => {} }),
  });
  const [lax, strict] = [answering("lax", true), answering("strict", false)];
  const load = { keys: 1, denies: "half", limit: 10 } as const;
  await expect(benchStanding("", [lax], load, SMALL_LIMITERS)).rejects.toThrow(/lax admitted \d+ of \d+ calls; right/);
  await expect(benchStanding("", [strict], load, SMALL_LIMITERS)).rejects.toThrow(/strict admitted 0 of/);
  const moving = { callers: 2, ...SMALL_LIMITERS.moving };
  await expect(benchMoving("", [lax], moving)).rejects.toThrow(/in 20 ms; its limit is/);
});

test("limiters: one checked line per rival and load, and an empty database at the end", async () => {
  const report = await benchLimiters(server.url, SMALL_LIMITERS);
  const rivals = ({ keys }: { keys: number }) => able.filter(({ oneIdOnly }) => keys === 1 || !oneIdOnly);
  const sliding = able.filter(({ name, timesLimit }) => name === "rate-limiter-flexible" || timesLimit === 1);
  expect(report.rows.map(({ limiter }) => limiter)).toEqual(
    [...SMALL_LIMITERS.loads.map(rivals), sliding].flat().map(({ name }) => name),
  );
  for (const row of report.rows) {
    for (const name of ["opsPerSecond", "bytesPerId"]) expect(row[name]).toBeGreaterThan(0);
    if (row.limiter === "rate-limiter-flexible") expect(row.timesFaster).toBe(1);
    if (String(row.load).endsWith("all admitted")) expect(row.deniedShare).toBe(0);
    if (String(row.load).endsWith("half denied")) expect(row.deniedShare).toBeGreaterThan(0.2);
  }
  const redis = new Redis(server.url);
  expect(await redis.dbsize()).toBe(0);
  await redis.quit();
});

test("limiterIds: one checked line per rival with many ids, and an exact window of at most 180 and 560 bytes", async () => {
  const report = await benchLimiterIds(server.url, SMALL_LIMITER_IDS);
  expect(report.rows.map(({ limiter }) => limiter)).toEqual(
    able.filter(({ oneIdOnly }) => !oneIdOnly).map(({ name }) => name),
  );
  for (const row of report.rows)
    for (const name of ["opsPerSecond", "timesFaster", "bytes1", "bytes100"]) expect(row[name]).toBeGreaterThan(0);
  const ours = report.rows.find(({ limiter }) => limiter === "oriel exact sliding window");
  expect(ours!.bytes1).toBeLessThanOrEqual(180);
  expect(ours!.bytes100).toBeLessThanOrEqual(560);
});
