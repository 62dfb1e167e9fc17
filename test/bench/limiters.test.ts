import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LimiterVisits } from "../../bench/limiter-visits.ts";
import { benchLimiters, SMALL_LIMITERS } from "../../bench/limiters.ts";
import { LIMITER_RIVALS } from "../../bench/rivals/limiter-all.ts";
import { type RedisServer, startRedis } from "../harness/redis-server.ts";

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
  test.each(able)("$name admits the first calls of an id, exactly to its limit", async (rival) => {
    const client = await rival.open(server.url, { limit: 5, spanMs: SPAN_MS });
    const admitted: boolean[] = [];
    for (let i = 0; i < 10; i++) admitted.push(await client.take(`first ${rival.name}`));
    expect(admitted).toEqual([true, true, true, true, true, false, false, false, false, false]);
    expect(await client.take(`second ${rival.name}`)).toBe(true);
    await client.close();
  });

  test.each(able)("$name admits no more to callers at the same time", async (rival) => {
    const client = await rival.open(server.url, { limit: 5, spanMs: SPAN_MS });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.take(`together ${rival.name}`)));
    expect(answers.filter(Boolean)).toHaveLength(5);
    await client.close();
  });
});

describe("visits", () => {
  test("are due as often as their ids have permits, and deny half of every stretch", () => {
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

test("limiters: a checked line for every rival and load, and an empty database", async () => {
  const report = await benchLimiters(server.url, SMALL_LIMITERS);
  const rivals = ({ keys }: { keys: number }) => able.filter(({ oneIdOnly }) => keys === 1 || !oneIdOnly);
  expect(report.rows.map(({ limiter }) => limiter)).toEqual(
    SMALL_LIMITERS.loads.flatMap((load) => rivals(load).map(({ name }) => name)),
  );
  for (const row of report.rows) {
    for (const name of ["opsPerSecond", "bytesPerId"]) expect(row[name]).toBeGreaterThan(0);
    if (row.limiter === "rate-limiter-flexible") expect(row.timesFaster).toBe(1);
    if (row.denies === "none") expect(row.deniedShare).toBe(0);
    else expect(row.deniedShare).toBeGreaterThan(0.2);
  }
  const redis = new Redis(server.url);
  expect(await redis.dbsize()).toBe(0);
  await redis.quit();
});
