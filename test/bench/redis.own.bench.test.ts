import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { benchBreakdown, SMALL_BREAKDOWN } from "../../bench/breakdown.ts";
import { benchGroups, SMALL_GROUPS } from "../../bench/groups/groups.ts";
import { benchKeys, SMALL_KEYS } from "../../bench/keys.ts";
import { RIVALS } from "../../bench/rivals/all.ts";
import { GROUPS_RIVALS } from "../../bench/rivals/groups/all.ts";
import type { Report } from "../../bench/runner/report.ts";
import { benchCold, SMALL_COLD } from "../../bench/series/cold.ts";
import { benchFleet, SMALL_FLEET } from "../../bench/series/fleet.ts";
import { benchProcesses, SMALL_PROCESSES } from "../../bench/series/processes.ts";
import { benchShards, SMALL_SHARDS } from "../../bench/series/shards.ts";
import { benchTimeline, SMALL_TIMELINE } from "../../bench/series/timeline.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server.stop());

async function keysLeft(): Promise<string[]> {
  const redis = new Redis(server.url);
  const keys = await redis.keys("*");
  // The delete of a series leaves a guard of 64 bytes for 80 s.
  const isGuard = async (key: string) => (await redis.type(key)) === "string" && (await redis.strlen(key)) === 64;
  const guards = await Promise.all(keys.map(isGuard));
  await redis.quit();
  return keys.filter((_, i) => !guards[i]);
}

function columnOf(report: Report, name: string): number[] {
  return report.rows.map((row) => Number(row[name]));
}

test("processes: one line per rival, and every event of every process is counted", async () => {
  const report = await benchProcesses(server.url, SMALL_PROCESSES);
  const able = RIVALS.filter((rival) => !rival.missing()).map(({ name }) => name);
  expect(report.rows.map(({ rival }) => rival)).toEqual(able);
  expect(report.rows.at(-1)).toMatchObject({ rival: "oriel", timesSlower: 1, refused: 0 });
  for (const rate of columnOf(report, "opsPerSecond")) expect(rate).toBeGreaterThan(0);
  // The registry stays: a program of more than 5 s announces what it uses. The number of a lock stays for a week.
  expect((await keysLeft()).filter((key) => !/^oriel:(\{registry\}:|\{.*\}:lock$)/.test(key))).toEqual([]);
});

test("fleet: all processes know all events, with and without shared answers", async () => {
  const report = await benchFleet(server.url, SMALL_FLEET);
  expect(report.rows.map(({ asked, events }) => [asked, events])).toEqual([
    ["alone", 100],
    ["with maxAge", 100],
  ]);
  for (const bytes of columnOf(report, "bytesPerEvent")) expect(bytes).toBeGreaterThan(0);
});

test("shards: every server counts its CPU, and a new process finds all events", async () => {
  const report = await benchShards(SMALL_SHARDS);
  expect(report.rows.map(({ structure, shards }) => [structure, shards])).toEqual([
    ["Series", 1],
    ["ShardedSeries", 2],
  ]);
  for (const rate of columnOf(report, "eventsPerSecond")) expect(rate).toBeGreaterThan(0);
  expect(report.rows[1]!.usOfBusiest).toBeLessThan(Number(report.rows[1]!.usPerEvent));
});

test("keys: calls of one turn share scripts, and every event is counted", async () => {
  const report = await benchKeys(server.url, SMALL_KEYS);
  expect(report.rows.map(({ what }) => what)).toEqual(["APPEND", "record"]);
  expect(report.rows[1]!.callsPerScript).toBeGreaterThan(1);
  expect(report.rows[1]!.timesFaster).toBeGreaterThan(0);
});

test("cold: the store and its recorded replies give the same answer", async () => {
  const [row] = (await benchCold(server.url, SMALL_COLD)).rows;
  expect(row).toMatchObject({ events: SMALL_COLD.events, reads: 1, trips: 1 });
  expect(row!.bytes).toBeGreaterThan(4 * SMALL_COLD.events);
  expect(row!.eventsPerSecond).toBeGreaterThan(0);
});

test("timeline: each bucket is right, of a series with a copy and without, and of what is at hand", async () => {
  const { rows } = await benchTimeline(server.url, SMALL_TIMELINE);
  expect(rows.map(({ by }) => by)).toEqual(
    expect.arrayContaining(["LocalSeries", "Series with a copy", "Series without a copy", "one window without a copy"]),
  );
  for (const { ms } of rows) expect(ms).toBeGreaterThan(0);
});

test("groups: each p99 is right or an estimate, and one chunk has fewer bytes than one for each group", async () => {
  const { rows } = await benchGroups(server.url, SMALL_GROUPS);
  const able = GROUPS_RIVALS.filter((rival) => !rival.missing());
  const kept = rows.filter((row) => row.ms === "");
  expect(kept.map(({ by }) => by)).toEqual(able.map(({ name }) => name));
  const asked = rows.filter((row) => row.ms !== "");
  expect(asked.map((row) => row.by)).toEqual(
    expect.arrayContaining([
      ...["oriel SeriesGroup, with a copy", "oriel SeriesGroup, without a copy"],
      ...["oriel Series, one for each group, with a copy", "oriel Series, one for each group, without a copy"],
    ]),
  );
  for (const { ms } of asked) expect(ms).toBeGreaterThan(0);
  for (const { by, worstErrorPercent } of kept)
    if (String(by).startsWith("prom-client")) expect(worstErrorPercent).toBeGreaterThan(0.1);
  const keptBy = new Map(kept.map((row) => [row.by, row]));
  const [together, plain, apart] = able.map(({ name }) => keptBy.get(name)!);
  for (const { eventsPerSecond } of [together!, plain!, apart!]) expect(eventsPerSecond).toBeGreaterThan(0);
  for (const bytes of ["bytesPerEvent", "bytesPerGroup"]) {
    expect(together![bytes]).toBeGreaterThan(4);
    expect(Number(together![bytes])).toBeLessThan(Number(apart![bytes]));
  }
  expect(Number(plain!.bytesPerGroup)).toBeLessThan(Number(together!.bytesPerGroup));
  expect((await keysLeft()).filter((key) => key.includes("bench groups"))).toEqual([]);
});

test("breakdown: the shares of a call add up to the whole call", async () => {
  const report = await benchBreakdown(server.url, { ...SMALL_BREAKDOWN, sliceMs: 100 });
  expect(columnOf(report, "callers")).toEqual(SMALL_BREAKDOWN.callers);
  for (const row of report.rows) {
    const shares = ["idleUs", "garbageUs", "windowUs", "storeUs", "parserUs", "clientUs", "socketUs", "otherUs"];
    const sum = shares.reduce((total, name) => total + Number(row[name]), 0);
    expect(sum / Number(row.wallUs)).toBeCloseTo(1, 6);
    expect(row.redisUs).toBeGreaterThanOrEqual(0);
    expect(row.scriptUs).toBeGreaterThan(0);
    // At the ends of the slice, a script may be counted without its events.
    expect(row.eventsPerScript).toBeGreaterThan(0.5);
  }
});
