import { afterEach, describe, expect, test, vi } from "vitest";
import {
  Breaker,
  Counters,
  DelayQueue,
  FleetMetrics,
  Limiter,
  Lock,
  LockedWindow,
  ReadWriteLock,
  Series,
  SeriesGroup,
  slidingWindow,
} from "../../src/entries/index.ts";
import { Semaphore } from "../../src/entries/structures/semaphore.ts";
import type { Store } from "../../src/store/contract.ts";
import { thisProcess } from "../../src/store/registry/announcer.ts";
import {
  type RegisteredProcess,
  type RegisteredStructure,
  readRegistry,
} from "../../src/store/registry/read-registry.ts";
import { until } from "../harness/until.ts";
import { call, SCENES } from "./scenes.ts";

afterEach(() => vi.restoreAllMocks());

/** The structures of each announcement. */
const announcementsOf = (runs: { mock: { calls: Parameters<Store["run"]>[] } }) =>
  runs.mock.calls.flatMap(([operation, , input]) =>
    operation.name === "registry/announce"
      ? [(input as { structures: { field: string }[] }).structures.map(({ field }) => field)]
      : [],
  );

describe.each(Object.keys(SCENES))("the registry on %s", (name) => {
  test("lists each kind with its name, settings, version and process", async () => {
    const { clock, open } = await SCENES[name]!();
    const store = await open();
    const policies = [slidingWindow({ limit: 5, span: "1m", name: "per-minute" })];
    const made = [
      new Series(store, "latency", { retention: "2h", values: "float64" }),
      new SeriesGroup(store, "routes", { labels: ["route", "method"] }),
      new LockedWindow(store, "window", { span: "1m" }),
      new Limiter(store, policies, { name: "api" }),
      new Limiter(store, () => policies, { name: "by id" }),
      new Lock(store, "nightly é𝄞\n{x}"),
      new ReadWriteLock(store, "rw"),
      new Semaphore(store, "render", { limit: 3 }),
      new Counters(store, "views", { dimensions: ["page"], shards: 4 }),
      new DelayQueue(store, "mail", { shards: 2 }),
      new Breaker(store, { name: "payments", span: "10s", failureRatio: 0.5 }),
      new FleetMetrics(store, "fleet"),
    ];
    await call(store);
    expect((await readRegistry(store)).structures).toEqual([]);
    clock.nowMs += 200;
    await call(store);
    const { structures, processes, nowMs } = await readRegistry(store);
    expect(structures.map(({ kind, name }) => [kind, name])).toEqual([
      ["Breaker", "payments"],
      ["Counters", "views"],
      ["DelayQueue", "mail"],
      ["FleetMetrics", "fleet"],
      ["Limiter", "api"],
      ["Limiter", "by id"],
      ["Lock", "call"],
      ["Lock", "nightly é𝄞\n{x}"],
      ["Lock", "sw_counter_bytes:window"],
      ["LockedWindow", "window"],
      ["ReadWriteLock", "rw"],
      ["Semaphore", "render"],
      ["Series", "latency"],
      ["SeriesGroup", "routes"],
    ]);
    const settings = Object.fromEntries(
      structures.map((each: RegisteredStructure) => [`${each.kind} ${each.name}`, each.settings]),
    );
    expect(settings).toMatchObject({
      "Series latency": { retention: 7_200_000, values: "float64", clock: "server" },
      "Limiter api": { policies: [{ name: "per-minute", kindName: "sliding-window", limit: 5, spanMs: 60_000 }] },
      "Limiter by id": { policies: "by id" },
      "Semaphore render": { limit: 3 },
      "Counters views": { dimensions: ["page"], shards: 4, timeZone: "UTC", buckets: ["minute", "hour", "day"] },
      "DelayQueue mail": { shards: 2, attempts: 5 },
      "Breaker payments": { span: 10_000, failureRatio: 0.5, minimumCalls: 10, cooldown: 30_000 },
      "FleetMetrics fleet": { interval: 60_000, percentiles: false },
    });
    const { version, host, pid, runtime, startedMs } = thisProcess();
    const own: RegisteredProcess = {
      id: structures[0]!.process,
      host,
      pid,
      runtime,
      version,
      startedMs,
      seenMs: Math.max(...structures.map(({ seenMs }) => seenMs)),
      structures: 14,
    };
    expect(processes).toEqual([own]);
    for (const each of structures) {
      expect(each).toMatchObject({ version, process: processes[0]!.id, processes: 1 });
      expect(each.conflict).toBeUndefined();
      expect(nowMs - each.seenMs).toBeLessThan(60_000);
      expect(each.seenMs).toBeLessThanOrEqual(nowMs);
    }
    expect(made).toHaveLength(12);
  });

  test("announces each structure once a minute, with other calls, and new ones after 200 ms", async () => {
    const { clock, open } = await SCENES[name]!();
    const store = await open();
    const runs = vi.spyOn(store, "run");
    const announced = () => announcementsOf(runs);
    const queue = new DelayQueue(store, "a");
    const calls = async (stepsMs: number[]) => {
      for (const stepMs of stepsMs) {
        clock.nowMs += stepMs;
        await queue.counts();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    await calls([0, 199]);
    expect(announced()).toEqual([]);
    await calls([1, 1, 30_000, 29_000]);
    expect(announced()).toEqual([['DelayQueue "a"']]);
    await calls([1000]);
    const second = new DelayQueue(store, "b");
    await calls([198, 1, 1]);
    expect(announced()).toEqual([['DelayQueue "a"'], ['DelayQueue "a"'], ['DelayQueue "b"']]);
    expect(second.name).toBe("b");
  });

  test("announces a new structure by itself if no call follows its first, and nothing without a call", async () => {
    const { clock, open } = await SCENES[name]!();
    const store = await open();
    const runs = vi.spyOn(store, "run");
    // The clock runs from here: its timer finds the announcement due however long the call takes.
    const [beginMs, startedMs] = [clock.nowMs, performance.now()];
    Object.defineProperty(clock, "nowMs", { get: () => beginMs + performance.now() - startedMs });
    const queue = new DelayQueue(store, "alone");
    await queue.counts();
    await until("it is announced", () => announcementsOf(runs).length > 0);
    expect(announcementsOf(runs)).toEqual([['DelayQueue "alone"']]);
    expect(runs.mock.calls.map(([{ name }]) => name)).toEqual([expect.stringContaining("queue"), "registry/announce"]);
    await store.close();
  });
});
