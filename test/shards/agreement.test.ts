import { afterEach, expect, test, vi } from "vitest";
import { ShardedSeries, type ShardedSeriesOptions } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { watchedServer } from "./watched-server.ts";

const HOUR_MS = 3_600_000;
const clock = { nowMs: Date.UTC(2100, 0, 1) };
const made: { close(): Promise<void> }[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of made.splice(0)) await each.close();
});

function sharded(store: Store, shards: number, options: ShardedSeriesOptions = {}) {
  const series = new ShardedSeries(store, "api", { shards, ...options });
  made.push(series);
  return series;
}

test("all queries of a turn read the list once", async () => {
  const { store, calls, called } = watchedServer(clock);
  const series = sharded(store, 3);
  for (let i = 0; i < 6; i++) await series.record(i);
  const questions: (() => Promise<unknown>)[] = [
    () => series.stats(),
    () => series.recordAndGet(1),
    () => series.values(),
  ];
  for (const ask of questions) {
    calls.length = 0;
    await Promise.all(Array.from({ length: 200 }, ask));
    expect(called("shards/agree")).toBe(1);
    expect(calls.length).toBe(1 + 3);
  }
});

test("a query that begins while the list is read reads it again", async () => {
  const { store, called } = watchedServer(clock);
  const [two, four] = [sharded(store, 2), sharded(store, 4)];
  await two.record(0);
  const first = two.stats();
  await four.record(1);
  for (let i = 0; i < 3; i++) await four.record(1);
  const before = called("shards/agree");
  expect((await two.stats()).count).toBe(5);
  expect(called("shards/agree")).toBe(before + 1);
  expect((await first).count).toBeLessThanOrEqual(5);
});

test("the replicas that confirm an event have confirmed its spread before", async () => {
  const { store, calls } = watchedServer(clock);
  const series = sharded(store, 2, { replicas: 1 });
  await series.record(1);
  expect(calls.map(({ name, options }) => [name, options?.replicas])).toEqual([
    ["shards/agree", undefined],
    ["shards/agree", 1],
    ["journal/read", undefined],
    ["journal/append", 1],
  ]);
  clock.nowMs += 20_000;
  await series.record(2);
  expect(calls.filter(({ name }) => name === "shards/agree").at(-1)!.options).toEqual({ replicas: 1 });
});

test("a spread is listed for as long as the store keeps events of its longest retention", async () => {
  const { store } = watchedServer(clock);
  const long = sharded(store, 4, { retention: "24h" });
  for (let i = 0; i < 4; i++) await long.record(i);
  const short = sharded(store, 4, { retention: "1h" });
  for (let i = 1; i <= 3 * 26; i++) {
    clock.nowMs += HOUR_MS / 3;
    await short.record(i);
  }
  clock.nowMs += 3 * HOUR_MS;
  const [same, fewer] = [sharded(store, 4, { retention: "24h" }), sharded(store, 2, { retention: "24h" })];
  const { count } = await same.stats();
  expect(count).toBeGreaterThan(40);
  expect((await fewer.stats()).count).toBe(count);
});

test("a process that slept notes its spread before it records again", async () => {
  const sleeping = { awakeMs: 0 };
  vi.spyOn(Date, "now").mockImplementation(() => clock.nowMs);
  const { store } = watchedServer(clock);
  // The monotonic clock of most systems stands still while the machine sleeps.
  const own: Store = { ...store, monotonic: () => sleeping.awakeMs };
  const two = sharded(store, 2);
  const four = sharded(own, 4);
  await four.record(0);
  clock.nowMs += 3 * HOUR_MS;
  sleeping.awakeMs += 1000;
  for (let i = 0; i < 4; i++) await four.record(i);
  expect((await two.stats()).count).toBe(4);
});

test("a process that has seen a spread finds its events although the list is lost", async () => {
  const { store, forget } = watchedServer(clock);
  const [eight, two] = [sharded(store, 8), sharded(store, 2)];
  for (let i = 0; i < 16; i++) await eight.record(i);
  expect((await two.stats()).count).toBe(16);
  await forget(`${store.keyOf("api")}:shards`);
  const { count, degraded } = await two.stats({ percentiles: [] });
  expect(degraded || count === 16).toBe(true);
});
