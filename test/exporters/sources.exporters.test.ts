import { AggregatorRegistry, Registry } from "prom-client";
import { expect, test } from "vitest";
import {
  Breaker,
  breakerSource,
  DelayQueue,
  type DrainService,
  drainSource,
  FleetMetrics,
  fleetSource,
  limiterSource,
  type MetricsSource,
  memoryStore,
  prometheusText,
  queueSource,
  registerPrometheus,
  Series,
  seriesSource,
} from "../../src/entries/index.ts";
import { until } from "../harness/until.ts";

/** Samples of a text by metric and labels, as they stand in it. */
const lines = (text: string) =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))] as const),
  );
const textOf = async (source: MetricsSource | MetricsSource[]) => lines(await prometheusText(source));

test("counters of a fleet's processes add up to the fleet's counts, and never fall", async () => {
  const store = memoryStore();
  const fleets = [0, 1, 2].map(() => new FleetMetrics(store, "shop", { maxNames: 2, flush: "1h" }));
  const seen = new Map<string, number>();
  let counted = 0;
  for (let round = 0; round < 6; round++) {
    for (const [i, fleet] of fleets.entries())
      for (const name of ["pay", `only-${i}`, `user-${round}`]) {
        fleet.metric(name).recordSuccess(10);
        fleet.metric(name).recordFailure();
        counted++;
      }
    if (round % 2 === 0) for (const fleet of fleets) await fleet.flush();
    let sum = 0;
    for (const [i, fleet] of fleets.entries())
      for (const [key, value] of Object.entries(await textOf(fleetSource(fleet)))) {
        if (!key.includes("calls_total")) continue;
        if (key.includes('outcome="success"')) sum += value;
        if (/name="(pay|_other)"/.test(key)) {
          expect(value).toBeGreaterThanOrEqual(seen.get(`${i} ${key}`) ?? 0);
          seen.set(`${i} ${key}`, value);
        }
      }
    expect(sum).toBe(counted);
  }
  const all = await fleets[0]!.readAll();
  for (const fleet of fleets.slice(1)) await fleet.flush();
  expect([...(await fleets[0]!.readAll()).values()].reduce((sum, view) => sum + view.success(), 0)).toBe(counted);
  expect(all.size).toBe(3);
});

test("shared metrics aggregate by max, others by sum, also over the processes of a cluster", async () => {
  const store = memoryStore();
  const fleets = [0, 1].map(() => new FleetMetrics(store, "shop", { flush: "1h" }));
  for (const fleet of fleets) fleet.metric("pay").addSuccess(60);
  for (const fleet of fleets) await fleet.flush();
  const registries = await Promise.all(
    fleets.map(async (fleet) => {
      const registry = new Registry();
      registerPrometheus(registry, fleetSource(fleet, { scope: "both" }));
      return registry.getMetricsAsJSON();
    }),
  );
  const text = lines(await AggregatorRegistry.aggregate(registries as object[]).metrics());
  expect(text['oriel_calls_total{fleet="shop",name="pay",outcome="success"}']).toBe(120);
  expect(text['oriel_fleet_calls_per_second{fleet="shop",name="pay",outcome="success"}']).toBe(2);
});

test("a breaker: its state, window, transitions and rejections", async () => {
  const breaker = new Breaker("local", { name: "payments", span: "10s", failures: 2 });
  const source = breakerSource(breaker);
  for (let i = 0; i < 3; i++) await breaker.run(() => Promise.reject(new Error("bad"))).catch(() => {});
  expect(await textOf(source)).toMatchObject({
    'oriel_breaker_state{name="payments",state="closed"}': 0,
    'oriel_breaker_state{name="payments",state="open"}': 1,
    'oriel_fleet_breaker_window_calls{name="payments",outcome="failed"}': 2,
    'oriel_breaker_transitions_total{name="payments",to="open"}': 1,
    'oriel_breaker_rejected_calls_total{name="payments"}': 1,
  });
});

test("a queue: messages by state, events, and how late and how long each message was", async () => {
  const queue = new DelayQueue(memoryStore(), "mails");
  for (const id of ["a", "b"]) await queue.add({}, { id, delay: 0 });
  await queue.add({}, { id: "c", delay: "1h" });
  const worker = queue.process(async () => {});
  const source = queueSource(queue, [worker]);
  await until("both are done", async () => (await textOf(source))[DONE] === 2);
  expect(await textOf(source)).toMatchObject({
    'oriel_fleet_queue_messages{name="mails",state="waiting"}': 1,
    'oriel_fleet_queue_messages{name="mails",state="due"}': 0,
    'oriel_queue_lateness_seconds_count{name="mails"}': 2,
    'oriel_queue_lateness_seconds_bucket{name="mails",le="500"}': 2,
    'oriel_queue_handling_seconds_count{name="mails"}': 2,
  });
  await worker.close();
});
const DONE = 'oriel_queue_worker_messages_total{name="mails",event="completed"}';

test("a series: a histogram of this process's values, and count, extremes and quantiles of the fleet's window", async () => {
  const store = memoryStore();
  const series = new Series(store, "latency", { retention: "30s", onStoreError: "local" });
  const source = seriesSource(series, { buckets: [2, 4] });
  await new Series(store, "latency", { retention: "30s" }).record(9);
  await series.recordMany([1, 2, 3, 4]);
  await series.recordMany([5], { at: Date.now() });
  await series.recordMany([6], { at: 1000 }).catch(() => {});
  expect(await textOf(source)).toEqual({
    'oriel_series_values_bucket{name="latency",le="2"}': 2,
    'oriel_series_values_bucket{name="latency",le="4"}': 4,
    'oriel_series_values_bucket{name="latency",le="+Inf"}': 5,
    'oriel_series_values_sum{name="latency"}': 15,
    'oriel_series_values_count{name="latency"}': 5,
    'oriel_fleet_series_events{name="latency"}': 6,
    'oriel_fleet_series_mean{name="latency"}': 4,
    'oriel_fleet_series_min{name="latency"}': 1,
    'oriel_fleet_series_max{name="latency"}': 9,
    'oriel_fleet_series_percentile{name="latency",percentile="50",span="30s"}': 3.5,
    'oriel_fleet_series_percentile{name="latency",percentile="90",span="30s"}': expect.closeTo(7, 5),
    'oriel_fleet_series_percentile{name="latency",percentile="99",span="30s"}': expect.any(Number),
    oriel_exporter_failed_sources: 0,
  });
  await series.close();
});

test("a drain: rows written, and the lag of the last cycle", async () => {
  // The compiler checks that the service fits. Its own tests check its events.
  const fits = (service: DrainService) => drainSource("visits", service);
  expect(fits).toBeTypeOf("function");
  const listeners = new Map<string, (reported: unknown) => void>();
  const source = drainSource("visits", {
    isDraining: true,
    on(event, listener) {
      listeners.set(event, listener as never);
      return () => {};
    },
  });
  const emit = (event: string, reported: unknown) => listeners.get(event)!(reported);
  emit("shard", { rows: 3, events: 2n ** 40n });
  emit("lag", { shards: 1, longestMs: 1500 });
  emit("cycle", { diverged: 2 });
  expect(await textOf(source)).toMatchObject({
    'oriel_drain_rows_total{name="visits"}': 3,
    'oriel_drain_events_total{name="visits"}': 2 ** 40,
    'oriel_drain_lag_seconds{name="visits"}': expect.closeTo(1.5, 1),
    'oriel_drain_active{name="visits"}': 1,
    'oriel_drain_diverged_shards{name="visits"}': 2,
  });
  emit("cycle", { diverged: 0 });
  expect((await textOf(source))['oriel_drain_lag_seconds{name="visits"}']).toBe(0);
  emit("error", { shards: [] });
  expect((await textOf(source))['oriel_drain_lag_seconds{name="visits"}']).toBeGreaterThan(0);
});

test("a failed source affects neither the others nor the registry; if all fail, the call rejects", async () => {
  const breaker = breakerSource(new Breaker("local", { name: "one", span: "1s", failures: 1 }));
  const other = breakerSource(new Breaker("local", { name: "two", span: "1s", failures: 1 }));
  const broken: MetricsSource = { metrics: breaker.metrics, collect: () => Promise.reject(new Error("away")) };
  const text = await prometheusText([broken, breaker, other]);
  expect(text.match(/# TYPE oriel_breaker_state gauge/g)).toHaveLength(1);
  expect(lines(text)).toMatchObject({
    'oriel_breaker_state{name="one",state="closed"}': 1,
    'oriel_breaker_state{name="two",state="closed"}': 1,
    oriel_exporter_failed_sources: 1,
  });
  await expect(prometheusText(broken)).rejects.toThrow("away");
});

test.each([undefined, null, 5, {}, { metrics: [] }])("%j is no source", async (source) => {
  const refusal = { code: "ARGUMENT", message: expect.stringContaining("source") };
  await expect(prometheusText(source as never)).rejects.toMatchObject(refusal);
  for (const make of [fleetSource, limiterSource, breakerSource, queueSource])
    expect(() => make(source as never)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
});
