import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import {
  Breaker,
  DelayQueue,
  FleetMetrics,
  fixedWindow,
  Limiter,
  memoryStore,
  prometheusText,
  registerAll,
  Series,
} from "../../src/entries/index.ts";
import { structuresOf } from "../../src/store/registry/live.ts";
import { readRegistry } from "../../src/store/registry/read-registry.ts";
import { until } from "../harness/until.ts";

const lines = async (source: ReturnType<typeof registerAll>) =>
  Object.fromEntries(
    (await prometheusText(source))
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))] as const),
  );
const hourly = [fixedWindow({ limit: 2, span: "1h" })];

test("one call covers structures made before and after it", async () => {
  const store = memoryStore();
  const early = new Limiter(store, hourly, { name: "early" });
  const all = registerAll(store);
  expect(registerAll(store)).toBe(all);
  const late = new Limiter(store, hourly, { name: "late" });
  const series = new Series(store, "latency");
  const queue = new DelayQueue(store, "mails");
  const worker = queue.process(() => {});
  const breaker = new Breaker(store, { name: "payments", span: "10s", failures: 2 });
  const fleet = new FleetMetrics(store, "shop", { percentiles: true });
  await Promise.all([early.take("a"), late.take("a"), series.record(5), queue.add({}), breaker.run(async () => 1)]);
  fleet.metric("pay").recordSuccess(250);
  await fleet.flush();
  await until("the worker is done", async () => (await queue.counts()).due + (await queue.counts()).claimed === 0);
  await queue.add({}, { delay: "1h" });
  expect(await lines(all)).toMatchObject({
    'oriel_limiter_decisions_total{name="early",policy="fixed-window",outcome="allowed"}': 1,
    'oriel_limiter_decisions_total{name="late",policy="fixed-window",outcome="allowed"}': 1,
    'oriel_series_values_count{name="latency"}': 1,
    'oriel_fleet_series_percentile{name="latency",percentile="99",span="1m"}': 5,
    'oriel_fleet_queue_messages{name="mails",state="waiting"}': 1,
    'oriel_queue_worker_messages_total{name="mails",event="completed"}': 1,
    'oriel_breaker_state{name="payments",state="closed"}': 1,
    'oriel_calls_total{fleet="shop",name="pay",outcome="success"}': 1,
    'oriel_response_time_seconds_bucket{fleet="shop",name="pay",le="0.2"}': 0,
    'oriel_response_time_seconds_bucket{fleet="shop",name="pay",le="0.5"}': 1,
    'oriel_fleet_response_time_percentile_seconds{fleet="shop",name="pay",percentile="50",span="1m"}': 0.25,
    'oriel_store_up{server="memory"}': 1,
    oriel_exporter_failed_sources: 0,
  });
  await Promise.all([worker.close(), series.close(), fleet.close()]);
});

test("a structure that is gone leaves its counts, and is not kept alive", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const store = memoryStore();
  const all = registerAll(store);
  for (let i = 0; i < 500; i++) await new Limiter(store, hourly, { name: "per-request" }).take(`${i}`);
  await until("all are gone", () => {
    collectGarbage();
    return structuresOf(store).length === 0;
  });
  expect(
    (await lines(all))['oriel_limiter_decisions_total{name="per-request",policy="fixed-window",outcome="allowed"}'],
  ).toBe(500);
});

test("the locks of the election are not in the registry", async () => {
  let nowMs = 1_700_000_000_000;
  const store = memoryStore({ clock: () => nowMs });
  const all = registerAll(store);
  const series = new Series(store, "latency");
  await series.record(5);
  for (let collections = 0; collections < 3; collections++) {
    expect(await lines(all)).toMatchObject({ 'oriel_fleet_series_events{name="latency"}': 1 });
    nowMs += 1000; // structures announce themselves after 200 ms
  }
  await series.record(5);
  const { structures } = await readRegistry(store);
  expect(structures.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["Series latency"]);
  await series.close();
});

test("names above maxNames share one label", async () => {
  const store = memoryStore();
  const all = registerAll(store, { maxNames: 2, fleet: "every" });
  const series = ["a", "b", "c", "d"].map((name) => new Series(store, name));
  for (const each of series) await each.record(1);
  const text = await lines(all);
  const counts = Object.entries(text).filter(([key]) => key.startsWith("oriel_series_values_count"));
  expect(counts).toEqual([
    ['oriel_series_values_count{name="a"}', 1],
    ['oriel_series_values_count{name="b"}', 1],
    ['oriel_series_values_count{name="_other"}', 2],
  ]);
  expect(Object.keys(text).filter((key) => key.startsWith("oriel_fleet_series_events"))).toHaveLength(2);
  await Promise.all(series.map((each) => each.close()));
});

test("without fleet-wide numbers no request is sent", async () => {
  const store = memoryStore();
  let runs = 0;
  const { run } = store;
  const counted = Object.assign(store, {
    run: (...args: Parameters<typeof run>) => {
      runs++;
      return run(...args);
    },
  }) as typeof store;
  const all = registerAll(counted, { fleet: "none" });
  const queue = new DelayQueue(counted, "mails");
  await queue.add({});
  const before = runs;
  expect(Object.keys(await lines(all)).filter((key) => key.startsWith("oriel_fleet"))).toEqual([]);
  expect(runs).toBe(before);
  expect(all.metrics.some(({ isShared }) => isShared)).toBe(false);
});

test.each<[string, object]>([
  ["fleet", { fleet: "one" }],
  ["maxNames", { maxNames: 0 }],
  ["buckets", { series: { buckets: [2, 1] } }],
  ["buckets", { series: { buckets: [] } }],
  ["percentiles", { series: { percentiles: [101] } }],
  ["option", { unknown: 1 }],
])("%s of %j is refused", (argument, options) => {
  expect(() => registerAll(memoryStore(), options as object)).toThrow(
    expect.objectContaining({ code: "ARGUMENT", message: expect.stringContaining(`registerAll: ${argument}`) }),
  );
});
