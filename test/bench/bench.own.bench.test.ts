import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { benchCluster, SMALL_CLUSTER } from "../../bench/cluster/cluster.ts";
import { benchCounters, SMALL_COUNTERS } from "../../bench/counters/counters.ts";
import { latencies } from "../../bench/events.ts";
import { benchKernels, SMALL_KERNELS } from "../../bench/kernel/kernels.ts";
import { benchLock, SMALL_LOCK } from "../../bench/lock/lock.ts";
import { benchSemaphore, SMALL_SEMAPHORE } from "../../bench/lock/semaphore.ts";
import { RIVALS } from "../../bench/rivals/all.ts";
import type { Answer, Rival } from "../../bench/rivals/contract.ts";
import { COUNTER_RIVALS } from "../../bench/rivals/counter.ts";
import { LOCK_RIVALS } from "../../bench/rivals/lock/lock.ts";
import { SEMAPHORE_KINDS } from "../../bench/rivals/lock/semaphore.ts";
import { environment } from "../../bench/runner/environment.ts";
import { jsonLines, type Report, table } from "../../bench/runner/report.ts";
import { benchMemory, SMALL_MEMORY } from "../../bench/series/memory.ts";
import { benchWindows, SMALL_WINDOWS } from "../../bench/series/windows.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server.stop());

const able: Rival[] = [];
for (const rival of RIVALS) {
  const reason = rival.missing();
  if (reason) console.warn(`skipped: ${rival.name}: ${reason}`);
  else able.push(rival);
}

async function answersOf(rival: Rival, preload: Float32Array, added: Float32Array): Promise<Answer[]> {
  const window = await rival.open(server.url, `agreement ${rival.name}`, 3_600_000, preload);
  const answers: Answer[] = [];
  for (const value of added) {
    const answer = await window.add(value, new AbortController().signal);
    if (answer) answers.push(answer);
  }
  await window.close();
  return answers;
}

function columnOf(report: Report, name: string): unknown[] {
  return report.rows.map((row) => row[name]);
}

describe("rivals", () => {
  const preload = latencies(200, 7);
  const added = latencies(3, 8);

  test.each(able)("$name counts every event once and returns correct statistics", async (rival) => {
    const answers = await answersOf(rival, preload, added);
    expect(answers.map((answer) => answer.count)).toEqual([201, 202, 203]);
    answers.forEach((answer, i) => {
      const values = [...preload, ...added.subarray(0, i + 1)].sort((a, b) => a - b);
      const rank = 0.99 * (values.length - 1);
      const low = values[Math.floor(rank)] as number;
      const high = values[Math.ceil(rank)] as number;
      if (answer.sum === undefined) return;
      expect(answer.sum / values.reduce((total, value) => total + value, 0)).toBeCloseTo(1, 5);
      expect(answer.p99).toBeCloseTo(low + (high - low) * (rank - Math.floor(rank)), 3);
    });
  });

  test("a closed window leaves no event behind", async () => {
    for (const rival of able) await answersOf(rival, preload, added.subarray(0, 1));
    const facts = await environment(server.url, "js");
    expect(Object.keys(facts)).toEqual(["cpu", "cores", "node", "redis", "ioredis", "kernel"]);
    expect(await bytesLeft()).toBeLessThanOrEqual(GUARD_BYTES);
  });
});

/** The key that the delete of a series leaves for 80 s, and the last fence of a locked window. */
const GUARD_BYTES = 64 + 39;

async function bytesLeft(): Promise<number> {
  const { Redis } = await import("ioredis");
  const redis = new Redis(server.url);
  try {
    // The registry announces structures by time, in a hash.
    const keys = (await redis.keys("*")).filter((key) => !key.includes("registry"));
    const lengths = await Promise.all(keys.map((key) => redis.strlen(key)));
    return lengths.reduce((sum, length) => sum + length, 0);
  } finally {
    await redis.quit();
  }
}

describe("small benches", () => {
  test("windows: one checked line per rival and load", async () => {
    const report = await benchWindows(server.url, SMALL_WINDOWS);
    expect(columnOf(report, "rival")).toEqual(SMALL_WINDOWS.callers.flatMap(() => able.map((rival) => rival.name)));
    for (const row of report.rows) {
      expect(row.operations).toBeGreaterThanOrEqual(SMALL_WINDOWS.slices);
      for (const name of ["opsPerSecond", "p50Ms", "p99Ms", "timesSlower", "bytesPerEvent"])
        expect(row[name]).toBeGreaterThan(0);
      if (row.rival === "oriel") expect(row.timesSlower).toBe(1);
    }
  });

  test("cluster: one line per layout, and every record is counted", async () => {
    const report = await benchCluster(SMALL_CLUSTER);
    expect(columnOf(report, "layout")).toHaveLength(4);
    for (const row of report.rows)
      for (const name of ["recordsPerSecond", "timesFirst", "serverUsPerRecord", "checksum"])
        expect(row[name]).toBeGreaterThan(0);
  });

  test("memory: bytes per event are fewer in batches", async () => {
    const report = await benchMemory(server.url, SMALL_MEMORY);
    const bytes = new Map(report.rows.map((row) => [row.layout, Number(row.bytesPerEvent)]));
    expect(bytes.get("V1 sorted set")).toBeGreaterThan(80);
    const alone = bytes.get("oriel, events alone") as number;
    const batched = bytes.get("oriel, batches of 32") as number;
    expect(alone).toBeGreaterThan(20);
    expect(batched).toBeGreaterThan(4.5);
    expect(batched).toBeLessThan(alone);
  });

  test("counters: one line per rival and number of rows, with verified totals", async () => {
    const report = await benchCounters(server.url, SMALL_COUNTERS);
    const names = COUNTER_RIVALS.map((rival) => rival.name);
    expect(columnOf(report, "counter")).toEqual(
      SMALL_COUNTERS.loads.flatMap(() => SMALL_COUNTERS.rows).flatMap(() => names),
    );
    for (const row of report.rows)
      for (const name of ["eventsPerSecond", "timesSlower", "bytesPerRow"]) expect(row[name]).toBeGreaterThan(0);
  });

  test("lock: one line per rival and load", async () => {
    const report = await benchLock(server.url, SMALL_LOCK);
    const rivals = LOCK_RIVALS.filter((rival) => !rival.missing());
    expect(columnOf(report, "lock")).toEqual(SMALL_LOCK.loads.flatMap(() => rivals.map((rival) => rival.name)));
    for (const row of report.rows) {
      for (const name of ["pairsPerSecond", "timesSlower", "p50Ms", "served", "commandsPerPair", "handOverP50Ms"])
        expect(row[name]).toBeGreaterThan(0);
      if (row.lock === "oriel") expect(row.timesSlower).toBe(1);
    }
  });

  test("semaphore: one line per kind, load and rival, and never more holders than the limit", async () => {
    const report = await benchSemaphore(server.url, SMALL_SEMAPHORE);
    expect(columnOf(report, "lock")).toEqual(SEMAPHORE_KINDS.flatMap(({ rivals }) => Object.keys(rivals)));
    for (const row of report.rows)
      for (const name of ["pairsPerSecond", "timesSlower", "p50Ms", "served", "commandsPerPair"])
        expect(row[name]).toBeGreaterThan(0);
  });

  test("kernels: one line per form", async () => {
    const report = await benchKernels(SMALL_KERNELS);
    expect(columnOf(report, "form")).toContain("js");
    for (const row of report.rows) expect(row.medianUs).toBeGreaterThan(0);
  });
});

test("a report prints as an aligned table and as JSON lines", () => {
  const report: Report = {
    bench: "b",
    title: "T",
    rows: [
      { rival: "one", rate: 12345.6, checksum: 1 },
      { rival: "two", rate: 0.012345, checksum: 2 },
    ],
    notes: ["a note"],
  };
  expect(table(report).split("\n")).toEqual([
    "## T",
    "",
    "| rival |   rate |",
    "|-------|-------:|",
    "| one   | 12,346 |",
    "| two   | 0.0123 |",
    "",
    "- a note",
    "",
  ]);
  expect(
    jsonLines(report)
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { bench: "b", rival: "one", rate: 12345.6, checksum: 1 },
    { bench: "b", rival: "two", rate: 0.012345, checksum: 2 },
    { bench: "b", note: "a note" },
  ]);
});
