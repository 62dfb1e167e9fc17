import { afterEach, expect, test } from "vitest";
import { closedKey } from "../../src/engine/journal/steps/rotate.ts";
import { Series, ShardedSeries, type ShardedSeriesOptions } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { spreadKeys } from "../../src/store/keys.ts";
import { expectError } from "../series/contract/stage.ts";
import { expectStats } from "../stats/oracle.ts";
import { sealOpenChunk, watchedServer } from "./watched-server.ts";

const clock = { nowMs: Date.UTC(2100, 0, 1) };
const made: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of made.splice(0)) await each.close();
});

function sharded(store: Store | readonly Store[], options: ShardedSeriesOptions) {
  const series = new ShardedSeries(store, "api", options);
  made.push(series);
  return series;
}

/** Three shards whose events are sealed. */
async function sealed() {
  const server = watchedServer(clock);
  const { store } = server;
  const writer = sharded(store, { shards: 3 });
  const values = Array.from({ length: 30_000 }, (_, i) => (i * 7919) % 30_011);
  for (let from = 0; from < values.length; from += 2500) await writer.recordMany(values.slice(from, from + 2500));
  const keys = spreadKeys(store, "api", "shard", 3);
  const numbers = await Promise.all(keys.map((key) => sealOpenChunk(store, key)));
  server.calls.length = 0;
  return { ...server, values, keys, numbers };
}

test("what cannot say that it is degraded rejects while a shard is away, whatever onStoreError says", async () => {
  const { store, state } = watchedServer(clock);
  const [own, other] = [sharded(store, { shards: 2, onStoreError: "local" }), sharded(store, { shards: 2 })];
  for (let i = 0; i < 4; i++) await own.record(i);
  expect(await own.fractionBelow(2)).toBe(0.5);
  for (let i = 0; i < 4; i++) await other.record(100);
  const [first] = spreadKeys(store, "api", "shard", 2);
  state.isCut = (_, key) => key === first;
  for (let i = 0; i < 3; i++) {
    await expectError(own.fractionBelow(2), "UNAVAILABLE", /50 % of the shards cannot be reached/);
    await expectError(own.values(), "UNAVAILABLE", /50 % of the shards cannot be reached/);
  }
  expect(await own.stats()).toMatchObject({ degraded: true, degradedBy: "local" });
  state.isCut = () => false;
});

test("with onStoreError local, a shard that is away is left out too", async () => {
  const { store, state } = watchedServer(clock);
  const series = sharded(store, { shards: 2, onStoreError: "local" });
  for (let i = 0; i < 4; i++) await series.record(i);
  const [first] = spreadKeys(store, "api", "shard", 2);
  state.isCut = (_, key) => key === first;
  let buffered = 0;
  for (let i = 0; i < 20; i++) {
    if ((await series.record(i)).degraded) buffered++;
    await series.stats();
  }
  expect(buffered).toBeLessThanOrEqual(1);
  state.isCut = () => false;
});

test("a shard that goes away between two requests is missing", async () => {
  const { store, state, keys } = await sealed();
  const [reader, recorder] = [sharded(store, { shards: 3 }), sharded(store, { shards: 3 })];
  let isAway = false;
  state.isCut = (name, key) => {
    isAway ||= name === "journal/read-parts" && key.startsWith(keys[1]!);
    return isAway && key.startsWith(keys[1]!);
  };
  const missing = { degraded: true, degradedBy: "shards", missingShare: 1 / 3 };
  expect(await reader.stats()).toMatchObject({ count: 20_000, ...missing });
  isAway = false;
  const answer = await recorder.recordAndGet(-1).catch((error) => error);
  // It rejects if the event is in that shard.
  if (answer instanceof Error) expect(answer).toMatchObject({ code: "UNAVAILABLE", applied: "unknown" });
  else expect(answer).toMatchObject({ count: 20_001, ...missing });
});

test("damage is reported with the key of its chunk", async () => {
  const { store, memory, keys, numbers } = await sealed();
  const key = closedKey(keys[1]!, numbers[1]!);
  const { bytes } = memory.entryOf(key)!.value as { bytes: Uint8Array };
  bytes.fill(0x55, bytes.length >> 1);
  const reader = sharded(store, { shards: 3 });
  const error = await expectError(reader.stats({ percentiles: [0, 1, 25, 50, 75, 99] }), "CORRUPT");
  expect(error.message).toContain(key);
});

test("callers of one question share its requests", async () => {
  const { store, calls, called, values } = await sealed();
  const reader = sharded(store, { shards: 3 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => reader.stats()));
  expect(called("journal/read-outlines")).toBe(3);
  expect(called("journal/read-parts")).toBeLessThanOrEqual(6);
  expectStats(answers[0] as never, values, { percentiles: [50, 90, 99] });
  // Each has an object of its own.
  (answers[0] as { percentiles: object }).percentiles = {};
  answers[0]!.count = 0;
  for (const answer of answers.slice(1)) expect(answer).toEqual(answers[1]);
  expect(answers[1]).toMatchObject({ count: 30_000, percentiles: { 50: expect.any(Number) } });
  calls.length = 0;
  const others = await Promise.all([reader.stats({ percentiles: [50] }), reader.stats({ ddof: 1 })]);
  expect(others[0]!.variance).not.toBe(others[1]!.variance);
});

test("with clock event, outlines answer windows that have no room in a copy", async () => {
  const { store } = watchedServer(clock);
  const options = { shards: 2, clock: "event" } as const;
  const writer = sharded(store, options);
  const at = clock.nowMs - 1000;
  const values = Array.from({ length: 60_000 }, (_, i) => (i * 7919) % 60_013);
  for (let from = 0; from < values.length; from += 5000)
    await writer.recordMany(values.slice(from, from + 5000), { at: at + from / 5000 });
  for (const key of spreadKeys(store, "api", "shard", 2)) await sealOpenChunk(store, key);
  const reader = sharded(store, { ...options, maxResidentBytes: 100_000 });
  const answer = await reader.stats();
  expect(answer).toMatchObject({ to: at + 11, degraded: false });
  expectStats(answer as never, values, { percentiles: [50, 90, 99] });
  await expectError(reader.values(), "TOO_LARGE");
});

test("a list with one store twice is refused", () => {
  const [one, other] = [watchedServer(clock).store, watchedServer(clock).store];
  expect(() => new ShardedSeries([one, other, one], "api")).toThrow(
    /ShardedSeries "api": store 3 of the list is .*; it must be another server than those before/,
  );
});

test("a process that does not know all servers deletes nothing", async () => {
  const servers = [watchedServer(clock), watchedServer(clock), watchedServer(clock)].map(({ store }) => store);
  const all = sharded(servers, {});
  for (let i = 0; i < 6; i++) await all.record(i);
  await expectError(
    sharded(servers.slice(0, 2), {}).delete(),
    "MISMATCH",
    /34 % of the shards are on servers that this process does not know/,
  );
  expect((await all.stats()).count).toBe(6);
  await all.delete();
  expect((await all.stats()).count).toBe(0);
});

test("a query under way at close begins no work with shards of others", async () => {
  const { store, calls, state } = watchedServer(clock);
  const plain = new Series(store, "api");
  made.push(plain);
  await plain.record(1);
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const late: Store = {
    ...store,
    async run(operation, ...rest) {
      if (operation.name === "shards/agree") await opened;
      return store.run(operation, ...rest);
    },
  };
  const series = new ShardedSeries(late, "api", { shards: 2 });
  const answer = expectError(series.stats(), "UNAVAILABLE", /the series is closed/);
  await series.close();
  calls.length = 0;
  open();
  await answer;
  expect(calls.map(({ name }) => name)).toEqual(["shards/agree"]);
  expect(state.keys).toBeGreaterThan(0);
});

test("the keys of shards are computed once", async () => {
  const { store, state } = watchedServer(clock);
  const series = sharded(store, { shards: 256 });
  await series.record(1);
  expect((await series.stats()).count).toBe(1);
  state.keys = 0;
  for (let i = 0; i < 3; i++) await series.stats();
  expect(state.keys).toBeLessThan(10);
});

test("an event whose window is too large is reported as recorded, once", async () => {
  const { store } = watchedServer(clock);
  const writer = sharded(store, { shards: 1 });
  for (let i = 0; i < 4; i++) await writer.recordMany(Array.from({ length: 5000 }, (_, k) => k));
  const series = sharded(store, { shards: 1, maxResidentBytes: 50_000 });
  const text =
    /^ShardedSeries "api" recordAndGet: the event is recorded, but its window has no answer: the window needs/;
  for (const at of [undefined, clock.nowMs])
    expect(await expectError(series.recordAndGet(-1, { at }), "TOO_LARGE", text)).toMatchObject({ applied: "unknown" });
  expect((await writer.stats({ percentiles: [] })).count).toBe(20_002);
});

test("callers share an answer only if they have all parts in common", async () => {
  const servers = [watchedServer(clock), watchedServer(clock)].map(({ store }) => store);
  const writer = sharded(servers, {});
  await writer.record(1);
  await writer.record(2);
  let answered = () => {};
  let held: Promise<void> | undefined;
  const late: Store = {
    ...servers[0]!,
    async run(operation, ...rest) {
      if (operation.name.startsWith("journal/read")) await held;
      return servers[0]!.run(operation, ...rest);
    },
  };
  const turns = () => new Promise((resolve) => setTimeout(resolve, 5));
  const reader = sharded([late, servers[1]!], {});
  held = new Promise((resolve) => {
    answered = resolve;
  });
  // While the first server is busy with this one, the next two wait for it together. The second server answers each at once.
  const before = reader.stats({ span: 1 });
  await turns();
  const first = reader.stats();
  await turns();
  for (const value of [3, 4]) await writer.record(value);
  const second = reader.stats();
  await turns();
  answered();
  await before;
  expect((await first).count).toBe(3);
  expect((await second).count).toBe(4);
});
