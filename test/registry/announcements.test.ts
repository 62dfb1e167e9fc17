import { afterEach, expect, test, vi } from "vitest";
import { Breaker, Counters, DelayQueue, memoryStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { inUse, liveOf } from "../../src/store/registry/live.ts";
import { readRegistry } from "../../src/store/registry/read-registry.ts";
import { announce } from "../../src/store/registry/steps/announce.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { call, redis, SCENES } from "./scenes.ts";

afterEach(() => vi.restoreAllMocks());

test.each(["redis", "memory"])("with registry: false nothing is announced on %s", async (name) => {
  const clock = { nowMs: 0 };
  const options = { registry: false, monotonic: () => clock.nowMs };
  const store = name === "memory" ? memoryStore(options) : await (await SCENES.redis!()).open(options);
  const queue = new DelayQueue(store, "a");
  clock.nowMs += 100_000;
  await queue.counts();
  await queue.counts();
  expect((await readRegistry(store)).structures).toEqual([]);
  expect(inUse(liveOf(store).others).map(({ name }) => name)).toEqual(["a"]);
});

test("an announcement that the server refuses fails no call", async () => {
  const { url } = await redis();
  const { clock, open } = await SCENES.redis!();
  const raw = new RespConnection(url);
  await raw.send([["SET", "oriel:{registry}:structures", "foreign"]]);
  const store = await open();
  const queue = new DelayQueue(store, "a");
  clock.nowMs += 10_000;
  await expect(Promise.all([queue.counts(), queue.counts()])).resolves.toHaveLength(2);
  await expect(queue.counts()).resolves.toBeDefined();
  raw.close();
});

test("processes with different settings are listed with both sides, and this process is warned once", async () => {
  const { clock, open } = await SCENES.redis!();
  const store = await open();
  const warned: string[] = [];
  vi.spyOn(process, "emitWarning").mockImplementation((text) => void warned.push(String(text)));
  const other = async (shards: number) => {
    const structures = [{ field: 'DelayQueue "mail"', shared: JSON.stringify({ shards }), settings: "{}" }];
    await store.run(announce, store.keyOf("registry"), {
      process: "web-2:17:ab",
      version: "0",
      record: "{}",
      structures,
    });
  };
  await other(8);
  const queue = new DelayQueue(store, "mail", { shards: 2 });
  for (let minute = 0; minute < 3; minute++) {
    clock.nowMs += 60_000;
    await queue.counts();
    await queue.counts();
  }
  const [listed] = (await readRegistry(store)).structures.filter(({ kind }) => kind === "DelayQueue");
  expect(listed).toMatchObject({
    settings: { shards: 2 },
    conflict: { process: "web-2:17:ab", settings: { shards: 8 } },
    processes: 1,
  });
  expect(warned).toHaveLength(1);
  expect(warned[0]).toMatch(
    /^DelayQueue "mail": this process \(.*\) has \{"shards":2\}, but process web-2:17:ab has \{"shards":8\}; all/,
  );
  await other(2);
  expect((await readRegistry(store)).structures.find(({ kind }) => kind === "DelayQueue")?.conflict).toBeUndefined();
});

test.each([
  [
    'Breaker "payments"',
    (store: Store) => new Breaker(store, { name: "payments", span: "10s", failureRatio: 0.5 }),
    { failureRatio: 0.9 },
    { failureRatio: 0.5 },
  ],
  [
    'Counters "views"',
    (store: Store) => new Counters(store, "views", { dimensions: ["page"], shards: 4 }),
    { dimensions: ["page", "site"], shards: 8 },
    { dimensions: ["page"], shards: 4 },
  ],
])("%s with another rule or shape: the warning has both sides", async (field, make, theirs, own) => {
  const { clock, open } = await SCENES.redis!();
  const store = await open();
  const warned: string[] = [];
  vi.spyOn(process, "emitWarning").mockImplementation((text) => void warned.push(String(text)));
  const made = make(store);
  const [live] = inUse(liveOf(store).others);
  expect(live!.shared).toMatchObject(own);
  const shared = JSON.stringify({ ...live!.shared, ...theirs });
  const structures = [{ field, shared, settings: "{}" }];
  await store.run(announce, store.keyOf("registry"), {
    process: "web-2:17:ab",
    version: "0",
    record: "{}",
    structures,
  });
  clock.nowMs += 60_000;
  await call(store);
  await expect.poll(() => warned.length).toBe(1);
  expect(warned[0]).toContain(`${field}: this process (`);
  expect(warned[0]).toContain(`) has ${JSON.stringify(live!.shared)}, but process web-2:17:ab has ${shared}; all`);
  const listed = (await readRegistry(store)).structures.find(({ kind }) => field.startsWith(kind));
  expect(listed).toMatchObject({ settings: own, conflict: { process: "web-2:17:ab", settings: theirs } });
  await (made as { close?(): Promise<void> }).close?.();
});

test("a structure that is no longer used is not announced", async () => {
  const { clock, open } = await SCENES.redis!();
  const store = await open();
  const kept = new DelayQueue(store, "kept");
  for (let i = 0; i < 100; i++) new DelayQueue(store, "same");
  const unused = new FinalizationRegistry<string>(() => {});
  unused.register(kept, "");
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    (globalThis as { gc?: () => void }).gc?.();
  }
  clock.nowMs += 200;
  await kept.counts();
  await kept.counts();
  const names = (await readRegistry(store)).structures.map(({ name }) => name);
  expect(names).toEqual((globalThis as { gc?: unknown }).gc ? ["kept"] : ["kept", "same"]);
});

test("many structures, made at different times, go out in one announcement a minute", async () => {
  const clock = { nowMs: 0 };
  const store = memoryStore({ monotonic: () => clock.nowMs });
  const run = vi.spyOn(store, "run");
  const announcedMs: number[] = [];
  const queues: DelayQueue[] = [];
  for (let second = 0; second < 300; second++) {
    clock.nowMs += 1000;
    if (second < 30) for (let i = 0; i < 50; i++) queues.push(new DelayQueue(store, `q${queues.length}`));
    run.mockClear();
    await queues[0]!.counts();
    // A store in memory announces at most once a ms.
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (run.mock.calls.some(([{ name }]) => name === "registry/announce")) announcedMs.push(clock.nowMs);
  }
  const { structures, nowMs } = await readRegistry(store);
  expect(structures).toHaveLength(1500);
  expect(nowMs - Math.min(...structures.map(({ seenMs }) => seenMs))).toBeLessThan(60_000);
  const steady = announcedMs.filter((ms) => ms > 60_000);
  expect(steady).toHaveLength(4);
  expect(steady.slice(1).map((ms, i) => ms - steady[i]!)).toEqual([60_000, 60_000, 60_000]);
});

test("structures that do not fit into one announcement have their turn with the next one", async () => {
  const clock = { nowMs: 0 };
  const store = memoryStore({ monotonic: () => clock.nowMs });
  const run = vi.spyOn(store, "run");
  const lengths: number[] = [];
  const queues = Array.from({ length: 1500 }, (_, i) => new DelayQueue(store, `${i} ${"x".repeat(480)}`));
  const turn = async (stepMs: number) => {
    clock.nowMs += stepMs;
    run.mockClear();
    await queues[0]!.counts();
    await new Promise((resolve) => setTimeout(resolve, 2));
    for (const [operation, , input] of run.mock.calls)
      if (operation.name === "registry/announce") lengths.push((input as { structures: object[] }).structures.length);
  };
  for (let second = 0; second < 30; second++) await turn(1000);
  expect((await readRegistry(store)).structures).toHaveLength(1500);
  const atFirst = lengths.splice(0);
  expect(atFirst.reduce((sum, length) => sum + length, 0)).toBe(1500);
  expect(Math.max(...atFirst)).toBeLessThan(600);
  for (let minute = 0; minute < 4; minute++) await turn(60_000);
  expect(lengths).toHaveLength(4);
  const { structures, nowMs } = await readRegistry(store);
  expect(structures).toHaveLength(1500);
  expect(nowMs - Math.min(...structures.map(({ seenMs }) => seenMs))).toBeLessThan(240_000);
});
