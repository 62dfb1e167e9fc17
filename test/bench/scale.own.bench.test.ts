import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandsOf, usedBytes } from "../../bench/cluster/redis-info.ts";
import { runOf } from "../../bench/report/lines.ts";
import { filled, plot } from "../../bench/report/page.ts";
import { RESULT } from "../../bench/report/pages.ts";
import { type Constants, constantsOf } from "../../bench/scale/constants.ts";
import { benchGrowth, SMALL_GROWTH } from "../../bench/scale/growth.ts";
import { choose, costOf, type Design, designs, endOf, narrowest, type Point } from "../../bench/scale/model.ts";
import { cheapest, PRICE_LISTS } from "../../bench/scale/prices.ts";
import { benchTraffic, SMALL_TRAFFIC } from "../../bench/scale/traffic.ts";
import { lognormal } from "../../bench/sealed/events.ts";
import { fill, seal } from "../../bench/sealed/filled.ts";
import { redisStore, Series, ShardedSeries } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

const run = runOf(readFileSync(RESULT, "utf8"));
const measured = constantsOf(run);
const rowsOf = (bench: string) => run.reports.filter((report) => report.bench === bench).flatMap(({ rows }) => rows);

const HOUR_MS = 3_600_000;
const plain: Design = { structure: "Series", shards: 1, hasMaxAge: false, gatherMs: 0 };
const point: Point = {
  ...{ eventsPerSecond: 1000, processes: 10, windowMs: HOUR_MS, askers: 10, everyMs: 1000, asks: "percentiles" },
};

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server.stop());

describe("the model agrees with what other benches measured", () => {
  test("the CPU of a server, of batches from three processes", () => {
    const [row] = rowsOf("cluster");
    const callers = 333;
    const modelUs = measured.requestUs / callers + measured.eventUs;
    expect(modelUs / Number(row!.serverUsPerRecord)).toBeGreaterThan(0.7);
    expect(modelUs / Number(row!.serverUsPerRecord)).toBeLessThan(1.4);
  });

  test("the bytes that Redis sends to processes that ask alone, and with maxAge", () => {
    // With more processes the machine of the bench was busy, and their batches were larger than one event.
    const small = rowsOf("fleet").filter(({ processes }) => Number(processes) <= 4);
    expect(small.length).toBe(4);
    for (const { processes, asked, bytesPerEvent } of small) {
      const its = { ...point, processes: Number(processes), askers: Number(processes), windowMs: 60_000 };
      const eventsPerSecond = 200 * its.processes;
      const cost = costOf({ ...its, eventsPerSecond }, { ...plain, hasMaxAge: asked !== "alone" }, measured);
      const times = cost.sentBytes / eventsPerSecond / Number(bytesPerEvent);
      expect(times, `${processes} processes ${asked}`).toBeGreaterThan(0.6);
      expect(times, `${processes} processes ${asked}`).toBeLessThan(1.6);
    }
  });
});

/** Bytes and commands of a server since it was started. */
async function usage(raw: Redis) {
  const commands = await commandsOf(raw);
  const text = await raw.info("stats");
  const bytes = (way: string) => Number(new RegExp(`total_net_${way}_bytes:(\\d+)`).exec(text)![1]);
  return { commands, receivedBytes: bytes("input"), sentBytes: bytes("output") };
}

describe("the model agrees with a Redis", () => {
  const PROCESSES = 4;
  const BATCH = 50;
  const ROUNDS = 20;
  const cases: [string, Design][] = [
    ["Series", { ...plain, gatherMs: 1000 / ROUNDS }],
    ["ShardedSeries", { ...plain, structure: "ShardedSeries", shards: 2, gatherMs: 1000 / ROUNDS }],
  ];
  test.each(cases)("commands and bytes of %s, whose processes record in batches and then ask", async (name, design) => {
    const raw = new Redis(server.url);
    const stores = Array.from({ length: PROCESSES }, () => redisStore(server.url, { registry: false, deadline: "1m" }));
    const open = (store: (typeof stores)[0]) =>
      design.structure === "Series" ? new Series(store, name) : new ShardedSeries(store, name, { shards: 2 });
    const fleet = stores.map(open);
    const values = Array.from({ length: BATCH }, (_, i) => i);
    // Before: connections, scripts, and copies of all shards.
    for (const series of fleet) for (let i = 0; i < 2; i++) await series.recordMany(values);
    for (const series of fleet) await series.stats({ percentiles: [99] });
    const before = await usage(raw);
    for (let i = 0; i < ROUNDS; i++) await Promise.all(fleet.map((series) => series.recordMany(values)));
    for (const series of fleet) {
      const { count } = await series.stats({ percentiles: [50, 90, 99] });
      expect(count).toBe(PROCESSES * BATCH * (ROUNDS + 2));
    }
    const after = await usage(raw);
    const eventsPerSecond = PROCESSES * BATCH * ROUNDS;
    const its = { ...point, eventsPerSecond, processes: PROCESSES, askers: PROCESSES };
    // In this second no chunk is closed and sealed, which a whole hour has.
    const cost = costOf({ ...its, windowMs: HOUR_MS }, design, { ...measured, roundedSealedBytes: 0, sealedBytes: 0 });
    const sealing = eventsPerSecond * (measured.valueBytes + measured.frameBytes / BATCH);
    expectNear("commands", after.commands - before.commands, cost.commands);
    expectNear("received", after.receivedBytes - before.receivedBytes, cost.receivedBytes);
    expectNear("sent", after.sentBytes - before.sentBytes, cost.sentBytes - sealing);
    for (const series of fleet) await series.close();
    for (const store of stores) await store.close();
    raw.disconnect();
  });

  function expectNear(what: string, real: number, modelled: number): void {
    expect(modelled / real, `${what}: ${real}, and ${modelled} by the model`).toBeGreaterThan(0.75);
    expect(modelled / real, `${what}: ${real}, and ${modelled} by the model`).toBeLessThan(1.35);
  }

  test("the memory of events that are sealed", async () => {
    const raw = new Redis(server.url);
    const store = redisStore(server.url, { registry: false, deadline: "1m" });
    await raw.flushdb();
    const events = 200_000;
    const closed = await fill(raw, store.keyOf("sealed"), lognormal(events, 1000), 32);
    await seal(store, store.keyOf("sealed"), closed);
    const real = (await usedBytes(raw)) / events;
    // An event for each ms, as `fill` has, in the three hours of its retention.
    const its = { ...point, windowMs: 3 * HOUR_MS, processes: 1, askers: 0, isRounded: true };
    const kept = its.eventsPerSecond * ((its.windowMs / 1000) * (1 + 1 / 64) + 60);
    const { storedBytes } = costOf(its, { ...plain, gatherMs: 32 }, measured);
    expectNear("bytes of an event", real, storedBytes / kept);
    await raw.flushdb();
    await store.close();
    raw.disconnect();
  });

  test("the bytes of a call are counted for each structure", async () => {
    const { rows } = await benchTraffic(server.url, SMALL_TRAFFIC);
    expect(rows.map(({ structure, call }) => `${structure} ${call}`)).toEqual([
      ...SMALL_TRAFFIC.batches.map(() => "Series record"),
      ...["Series question, with a copy", "Series question, shared"],
      ...SMALL_TRAFFIC.batches.map(() => "ShardedSeries record"),
      "ShardedSeries question, with a copy",
    ]);
    for (const { commands, bytesIn, bytesOut } of rows)
      for (const count of [commands, bytesIn, bytesOut]) expect(count).toBeGreaterThan(1);
  });
});

describe("what to choose", () => {
  const need = (eventsPerSecond: number, processes: number) => ({
    ...{ eventsPerSecond, processes, windowMs: HOUR_MS, askers: Math.min(10, processes) },
  });

  test("more events never need a simpler design", () => {
    for (const processes of [1, 10, 1000, 10_000]) {
      const all = designs({ processes });
      const ranks = [10, 1e3, 1e4, 1e5, 1e6, 1e7].map((events) => {
        const chosen = choose({ ...need(events, processes), windowMs: 60_000 }, measured);
        if (!chosen || chosen.point.asks === "moments" || chosen.point.everyMs > 1000) return all.length;
        return all.findIndex((design) => JSON.stringify(design) === JSON.stringify(chosen.design));
      });
      expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    }
  });

  test("what is chosen holds, and a design ends where it says", () => {
    for (const design of designs({ processes: 1000 })) {
      const its = { ...point, processes: 1000, windowMs: 60_000 };
      const { eventsPerSecond } = endOf(its, design, measured);
      if (eventsPerSecond === 0) continue;
      const at = (times: number) => {
        const more = { ...its, eventsPerSecond: times * eventsPerSecond };
        return narrowest(design, costOf(more, design, measured));
      };
      expect(at(0.9).share).toBeLessThanOrEqual(1);
      expect(at(1.1).share).toBeGreaterThan(1);
    }
  });

  test("a dearer constant costs more", () => {
    const dearer = (name: keyof Constants) => ({ ...measured, [name]: 2 * measured[name] });
    const cost = costOf(point, plain, measured);
    expect(costOf(point, plain, dearer("requestUs")).serverCores).toBeGreaterThan(1.5 * cost.serverCores);
    expect(costOf(point, plain, dearer("sealedBytes")).storedBytes).toBeGreaterThan(1.5 * cost.storedBytes);
    expect(costOf(point, plain, dearer("aloneCommands")).commands).toBeGreaterThan(1.5 * cost.commands);
  });

  test("servers have the memory and the cores, and more of them cost more", () => {
    for (const list of PRICE_LISTS) {
      const one = { primaries: 1, memoryBytes: 8e9, cores: 0.5, networkBytesPerSecond: 1e6 };
      const found = cheapest(list, one)!;
      expect(found.offer.memoryGiB * 2 ** 30).toBeGreaterThan(8e9);
      expect(cheapest(list, { ...one, primaries: 8, memoryBytes: 64e9 })!.monthly).toBeGreaterThan(found.monthly);
      expect(cheapest(list, { ...one, memoryBytes: 1e15 })).toBeUndefined();
    }
  });

  test("the page has what the model computes, so another run gives another page", () => {
    const page = "<!-- bench scale-choice -->\n<!-- end -->\n<!-- bench scale-costs -->\n<!-- end -->";
    const text = filled(page, run);
    expect(text).toContain("| 100,000 |");
    const reports = run.reports.map((report) =>
      report.bench === "sealed"
        ? { ...report, rows: report.rows.map((row) => ({ ...row, memoryPerEvent: 10 * Number(row.memoryPerEvent) })) }
        : report,
    );
    expect(filled(page, { ...run, reports })).not.toBe(text);
    expect(filled(page, { ...run, reports: [] })).toBe(page);
  });
});

test("growth: a simulated fleet loses and doubles nothing, and its curves are pictures", async () => {
  const report = await benchGrowth({ ...SMALL_GROWTH, seconds: 20 });
  expect(report.rows.find(({ what }) => what === "events acknowledged")!.count).toBeGreaterThan(1000);
  const pictures = plot("growth", { ...run, reports: [report] });
  expect(pictures.match(/<svg/g)).toHaveLength(5);
  expect(pictures).not.toContain("NaN");
  expect(plot("growth", { ...run, reports: [] })).toBe("");
});
