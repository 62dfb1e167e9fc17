import { expect, test } from "vitest";
import type { SeriesOptions } from "../../../src/engine/series/series-options.ts";
import { OrielError, Series } from "../../../src/entries/index.ts";
import { until } from "../../harness/until.ts";
import { isWrite, storeWith } from "../contract/changed-store.ts";
import { expectError } from "../contract/stage.ts";

type Code = "UNAVAILABLE" | "DEADLINE" | "CORRUPT";
type Trouble = "none" | "before" | "after";

/** A store that a test takes away: calls fail before they are applied, or after. */
function scene(options: SeriesOptions = {}) {
  const steps: string[] = [];
  const trouble = { kind: "none" as Trouble, code: "UNAVAILABLE" as Code, only: "" as "" | "writes" };
  const { store, plain, clock } = storeWith(async (name, _key, run) => {
    steps.push(name);
    if (trouble.kind === "none" || (trouble.only === "writes" && !isWrite(name))) return run();
    if (trouble.kind === "after") await run();
    const applied = trouble.kind === "after" ? "unknown" : "no";
    throw new OrielError(trouble.code, "away", { transient: trouble.code !== "CORRUPT", applied });
  });
  const all: SeriesOptions = { retention: "1m", values: "float64", onStoreError: "local", ...options };
  const series = new Series(store, "s", all);
  const reader = new Series(plain, "s", { ...all, onStoreError: "throw" });
  const back = async () => {
    trouble.kind = "none";
    await until("it is back", async () => !(await series.record(0)).degraded);
  };
  return { series, reader, clock, trouble, steps, back, plain };
}

const LOCAL = { degraded: true, degradedBy: "local" };

test("while the store is reachable, results are not degraded", async () => {
  const { series } = scene();
  expect(await series.record(1)).toEqual({ degraded: false });
  expect(await series.recordMany([2, 3])).toEqual({ degraded: false });
  expect(await series.recordMany([])).toEqual({ degraded: false });
  expect(await series.recordMany([2, 3], { at: [Date.UTC(2100, 0, 1), Date.UTC(2100, 0, 1)] })).toEqual({
    degraded: false,
  });
  const { degraded, degradedBy, count } = await series.recordAndGet(4);
  expect({ degraded, degradedBy, count }).toEqual({ degraded: false, degradedBy: undefined, count: 6 });
});

test("offline: the answer has the events of the copy and the process, exactly, on the server's clock", async () => {
  const { series, reader, clock, trouble } = scene();
  await reader.recordMany([10, 20]); // another process's
  await series.record(30);
  await series.stats(); // now they are resident
  clock.nowMs += 1000;
  trouble.kind = "before";
  expect(await series.record(40)).toEqual(LOCAL);
  clock.nowMs += 1000;
  expect(await series.recordMany([50, 60])).toEqual(LOCAL);
  const all = await series.stats({ percentiles: [50] });
  expect(all).toMatchObject({ ...LOCAL, count: 6, sum: 210, percentiles: { 50: 35 }, to: clock.nowMs });
  expect(await series.stats({ span: 1500 })).toMatchObject({ ...LOCAL, count: 3, sum: 150 });
  expect(await series.recordAndGet(70, { span: 1 })).toMatchObject({ ...LOCAL, count: 3, sum: 180 });
  // Windows move on: what was resident leaves, what is kept leaves after it.
  clock.nowMs += 58_000;
  expect(await series.stats()).toMatchObject({ ...LOCAL, count: 4 });
  clock.nowMs += 60_000;
  expect(await series.stats()).toMatchObject({ ...LOCAL, count: 0, sum: 0 });
});

test("offline: no call waits for the store, and one probe at a time is sent", async () => {
  let release: () => void = () => {};
  const held: string[] = [];
  let isAway = true;
  const { store } = storeWith(async (name, _key, run) => {
    if (!isAway) return run();
    held.push(name);
    if (held.length > 1) await new Promise<void>((resolve) => (release = resolve)); // silent
    throw new OrielError("DEADLINE", "silent", { transient: true, applied: "unknown" });
  });
  const series = new Series(store, "s", { onStoreError: "local", values: "float64" });
  await series.record(1);
  for (let i = 0; i < 100; i++) {
    expect(await series.record(1)).toEqual(LOCAL);
    expect((await series.stats()).count).toBe(i + 2);
  }
  await until("the probe is under way", () => held.length === 2);
  expect(held).toEqual(["journal/read", "journal/read"]);
  isAway = false;
  release();
  await until("it is back", async () => !(await series.record(1)).degraded);
});

test("online again: buffered events are sent once with their times; windows are complete again", async () => {
  const { series, reader, clock, trouble, back } = scene();
  await series.recordMany([1, 2]);
  await series.stats();
  trouble.kind = "before";
  const awayMs = clock.nowMs + 500;
  clock.nowMs = awayMs;
  await series.recordMany([3, 4]);
  await series.record(5, { at: clock.nowMs - 2000 });
  clock.nowMs += 5000;
  await back();
  await until("all kept events are sent", async () => !(await series.stats()).degraded);
  expect([...(await series.values())].filter((value) => value > 0).sort()).toEqual([1, 2, 3, 4, 5]);
  expect((await reader.stats({ at: awayMs, span: 1 })).sum).toBe(7);
  expect((await reader.stats({ at: awayMs - 2000, span: 1 })).sum).toBe(5);
  expect(await reader.stats()).toEqual(await series.stats());
});

test("online again: events that may have been applied are never sent; windows with them are degraded", async () => {
  const { series, reader, clock, trouble, back } = scene();
  await series.record(1);
  trouble.kind = "after";
  trouble.only = "writes";
  expect(await series.record(2)).toEqual(LOCAL); // it was applied, and nobody knows
  expect(await series.stats()).toMatchObject({ ...LOCAL });
  clock.nowMs += 1000;
  await back();
  await until("all is settled", async () => !(await series.stats({ span: 500 })).degraded);
  expect(await series.stats()).toMatchObject(LOCAL);
  expect([...(await reader.values())].filter((value) => value === 2)).toEqual([2]);
  clock.nowMs += 60_000;
  expect(await series.stats()).toMatchObject({ degraded: false });
});

test("events from before the first contact have no server time: never sent, and reported", async () => {
  const { series, reader, trouble, back } = scene();
  trouble.kind = "before";
  expect(await series.record(1)).toEqual(LOCAL);
  expect(await series.recordAndGet(2)).toMatchObject({ ...LOCAL, count: 2, sum: 3 });
  await back();
  expect([...(await reader.values())].filter((value) => value > 0)).toEqual([]);
});

test("buffered events that could not be sent are buffered again", async () => {
  const { series, reader, clock, trouble, back } = scene();
  await series.record(1);
  for (let round = 0; round < 3; round++) {
    trouble.kind = "before";
    trouble.only = "";
    await series.recordMany([10 + round, 20 + round]);
    clock.nowMs += 100;
    // Reads are answered and appends are not, so it is offline again with the events that it tried to send.
    trouble.only = "writes";
    await until("an append was tried", async () => (await series.record(0)).degraded);
  }
  await back();
  await until("all kept events are sent", async () => !(await series.stats()).degraded);
  const found = [...(await reader.values())].filter((value) => value > 0).sort((a, b) => a - b);
  expect(found).toEqual([1, 10, 11, 12, 20, 21, 22]);
});

test("a window on the event clock continues with the buffered events", async () => {
  const { series, reader, clock, trouble } = scene({ clock: "event" });
  const at = clock.nowMs - 86_400_000; // a lagging stream
  await series.record(1, { at });
  await series.stats();
  trouble.kind = "before";
  expect(await series.recordAndGet(2, { at: at + 10_000 })).toMatchObject({ ...LOCAL, count: 2, to: at + 10_000 });
  await expectError(series.record(9, { at: clock.nowMs + 60_001 }), "EARLY");
  await expectError(series.record(9, { at: at - 60_000 }), "LATE");
  trouble.kind = "none";
  await until("it is back", async () => !(await series.record(3, { at: at + 10_000 })).degraded);
  await until("all kept events are sent", async () => !(await series.stats()).degraded);
  expect((await reader.stats()).to).toBe(at + 10_000);
  expect(await reader.values()).toContain(2);
});

test("offline: queries that cannot be marked degraded fail; other errors do not go offline", async () => {
  const { series, trouble } = scene();
  await series.record(1);
  trouble.kind = "before";
  await expectError(series.values(), "UNAVAILABLE");
  await expectError(series.fractionBelow(3), "UNAVAILABLE");
  expect(await series.stats()).toMatchObject(LOCAL);
  const first = scene();
  first.trouble.kind = "before";
  expect(await first.series.record(2)).toMatchObject({ degradedBy: "local" });
  const broken = scene();
  broken.trouble.kind = "before";
  broken.trouble.code = "CORRUPT";
  await expectError(broken.series.record(1), "CORRUPT");
  await expectError(broken.series.stats(), "CORRUPT");
});

test("the buffer is bounded: above maxPendingBytes a record is OVERLOADED, and expiry makes room", async () => {
  const { series, clock, trouble } = scene({ maxPendingBytes: 22 * 100 });
  await series.record(1);
  trouble.kind = "before";
  expect(await series.recordMany(new Float64Array(90))).toEqual(LOCAL);
  const refusal = await expectError(series.recordMany(new Float64Array(20)), "OVERLOADED", /maxPendingBytes, 2200/);
  expect(refusal).toMatchObject({ transient: true, applied: "no" });
  const stats = await series.stats();
  expect(stats).toMatchObject({ ...LOCAL });
  clock.nowMs += 61_000;
  expect(await series.recordMany(new Float64Array(20))).toEqual(LOCAL);
  expect((await series.stats()).count).toBe(20);
});

test("several series as one: an offline one makes the whole degraded", async () => {
  const away = scene();
  const here = new Series(away.plain, "t", { retention: "1m", values: "float64" });
  await here.recordMany([1, 2]);
  await away.series.record(3);
  await away.series.stats();
  away.trouble.kind = "before";
  expect(await Series.stats([here, away.series])).toMatchObject({ ...LOCAL, count: 3, sum: 6 });
});

test("a deletion drops the buffer; closing while offline ends the probes", async () => {
  const { series, steps, trouble, back, reader } = scene();
  await series.record(1);
  trouble.kind = "before";
  await series.record(2);
  await back();
  await series.delete();
  expect((await reader.stats()).count).toBe(0);
  trouble.kind = "before";
  await series.record(3);
  await series.close();
  const count = steps.length;
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(steps.length).toBe(count);
  await expectError(series.record(4), "UNAVAILABLE", /closed/);
});

test("onStoreError is validated", () => {
  const { plain } = scene();
  expect(() => new Series(plain, "s", { onStoreError: "allow" as never })).toThrow(/onStoreError is "allow"/);
});

test("queries that wait for the store are bounded", async () => {
  let release: () => void = () => {};
  const blocked = new Promise<void>((resolve) => (release = resolve));
  let isUnderWay = false;
  const { store } = storeWith((_name, _key, run) => {
    isUnderWay = true;
    return blocked.then(run);
  });
  const series = new Series(store, "s");
  const asked: ReturnType<Series["stats"]>[] = [];
  // The first is taken up; the others wait behind it.
  const first = series.stats();
  await until("the first is on its way", () => isUnderWay);
  for (let i = 0; i < 65_536; i++) asked.push(series.stats());
  await expectError(series.stats(), "OVERLOADED", /65536 queries wait/);
  await expectError(series.recordAndGet(1), "OVERLOADED", /queries wait/);
  release();
  expect((await first).count).toBe(0);
  expect(new Set((await Promise.all(asked)).map(({ count }) => count))).toEqual(new Set([0]));
});
