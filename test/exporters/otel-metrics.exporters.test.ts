import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import {
  Breaker,
  Counters,
  DelayQueue,
  DrainService,
  FleetMetrics,
  fixedWindow,
  Limiter,
  type MetricsSource,
  MetricWindow,
  memoryStore,
  prometheusText,
  registerAll,
  Series,
  seriesSource,
  windowSource,
} from "../../src/entries/index.ts";
import { type OtelMetricProducer, otelMetrics } from "../../src/entries/telemetry.ts";
import { metricsOf } from "../../src/operate/exporters/collect.ts";
import { until } from "../harness/until.ts";

/** The metrics that the real SDK exports, beside one of its own. */
async function exportedBy(...metricProducers: OtelMetricProducer[]): Promise<Map<string, MetricData>> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1, metricProducers });
  const provider = new MeterProvider({ readers: [reader] });
  provider.getMeter("shop").createCounter("own").add(1);
  await reader.forceFlush();
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics));
  await provider.shutdown();
  return new Map(metrics.map((each) => [each.descriptor.name, each]));
}

/** Numbers by name and labels. A histogram has the numbers of its count and sum, as in Prometheus' text. */
function numbersOf(metrics: Map<string, MetricData>, source: MetricsSource): Record<string, number> {
  const prometheusName = new Map(metricsOf([source]).map((each) => [`oriel.${each.otel}`, `oriel_${each.prometheus}`]));
  const numbers: Record<string, number> = {};
  for (const [name, { dataPoints }] of metrics)
    for (const { attributes, value } of dataPoints) {
      const text = Object.entries(attributes).map(([label, each]) => `${label}="${each}"`);
      const labels = text.length === 0 ? "" : `{${text.join(",")}}`;
      if (name === "own") continue;
      if (typeof value === "number") numbers[`${prometheusName.get(name)}${labels}`] = value;
      else {
        numbers[`${prometheusName.get(name)}_count${labels}`] = value.count;
        numbers[`${prometheusName.get(name)}_sum${labels}`] = value.sum!;
      }
    }
  return numbers;
}

test("the SDK exports each number of every source that Prometheus gets, beside its own", async () => {
  const store = memoryStore();
  const all = registerAll(store);
  const limiter = new Limiter(store, [fixedWindow({ limit: 2, span: "1h" })], { name: "api" });
  const series = new Series(store, "latency");
  const queue = new DelayQueue(store, "mails");
  const worker = queue.process(() => {});
  const breaker = new Breaker(store, { name: "payments", span: "10s", failures: 2 });
  const fleet = new FleetMetrics(store, "shop", { percentiles: true });
  const counters = new Counters(store, "visits", { dimensions: ["site"] });
  const drain = new DrainService({ counters, sink: { apply: async () => {}, ledger: async () => [] } as never });
  await Promise.all([limiter.take("a"), series.recordMany([1, 2, 4]), queue.add({}), breaker.run(async () => 1)]);
  fleet.metric("pay").recordSuccess(250);
  await fleet.flush();
  await until("the worker is done", async () => (await queue.counts()).due + (await queue.counts()).claimed === 0);
  const pay = new MetricWindow({ sampleCount: 10, interval: 10_000, percentiles: true, clock: () => 1_000_000 });
  pay.recordSuccess(100);
  const sources = [all, windowSource({ pay })];
  const whole = { metrics: sources.flatMap(({ metrics }) => metrics), collect: async () => [] };

  const metrics = await exportedBy(otelMetrics(sources));
  const text = await prometheusText(sources);
  const expected = Object.fromEntries(
    [...text.matchAll(/^(oriel_\S+?(?:\{.*\})?) (\S+)$/gm)]
      .filter(([, key]) => !key!.includes("_bucket{"))
      .map(([, key, value]) => [key!, Number(value)]),
  );
  // Only the lag of a drain depends on the time.
  const lag = 'oriel_drain_lag_seconds{name="visits"}';
  const numbers = numbersOf(metrics, whole);
  expect({ ...numbers, [lag]: 0 }).toEqual({ ...expected, [lag]: 0 });
  expect(metrics.get("own")?.dataPoints[0]?.value).toBe(1);
  for (const kind of ["limiter", "series", "queue", "breaker", "drain", "response_time", "store", "window"])
    expect(Object.keys(numbers).some((key) => key.includes(kind))).toBe(true);
  for (const [name, each] of metrics) {
    const info = metricsOf([whole]).find(({ otel }) => name === `oriel.${otel}`);
    if (!info) continue;
    expect(each.descriptor).toMatchObject({ unit: info.unit, description: info.help });
    const { SUM, GAUGE, EXPONENTIAL_HISTOGRAM } = DataPointType;
    expect(each.dataPointType).toBe({ counter: SUM, gauge: GAUGE, histogram: EXPONENTIAL_HISTOGRAM }[info.type]);
    expect("isMonotonic" in each).toBe(info.type === "counter");
    for (const { startTime, endTime } of each.dataPoints) expect(endTime[0]).toBeGreaterThanOrEqual(startTime[0]);
  }
  await Promise.all([worker.close(), series.close(), fleet.close(), drain.stop()]);
});

/** The histogram of a series that has recorded these values, with these options of its source. */
async function histogramOf(values: readonly number[], options = {}) {
  const series = new Series(memoryStore(), "latency");
  const source = seriesSource(series, options);
  await series.recordMany(values);
  const metrics = await exportedBy(otelMetrics(source, { prefix: "shop", labels: { region: "east" } }));
  await series.close();
  const { dataPointType, dataPoints } = metrics.get("shop.series.values")!;
  expect(dataPoints).toHaveLength(1);
  expect(dataPoints[0]!.attributes).toEqual({ region: "east", name: "latency" });
  return { dataPointType, value: dataPoints[0]!.value };
}

test("a series is an exponential histogram, or has the buckets that were asked for", async () => {
  const asked = await histogramOf([1, 2, 3, 4, 5], { buckets: [2, 4] });
  expect(asked).toEqual({
    dataPointType: DataPointType.HISTOGRAM,
    value: { buckets: { boundaries: [2, 4], counts: [2, 2, 1] }, count: 5, sum: 15 },
  });
  const { dataPointType, value } = await histogramOf([1, 2, 2, 0, 4]);
  expect(dataPointType).toBe(DataPointType.EXPONENTIAL_HISTOGRAM);
  // A power of two is the upper boundary of its bucket: (2 ** (-1 / 8), 1] has index -1.
  const bucketCounts = Array.from({ length: 17 }, (_, i) => ({ 0: 1, 8: 2, 16: 1 })[i] ?? 0);
  expect(value).toEqual({
    ...{ scale: 3, zeroCount: 1, count: 5, sum: 9 },
    positive: { offset: -1, bucketCounts },
    negative: { offset: 0, bucketCounts: [] },
  });
});

test("the SDK's own exponential histogram has the same buckets", async () => {
  const values = Array.from({ length: 300 }, (_, i) => Math.fround(1.07 ** (i - 100) * 1.003));
  const { value } = await histogramOf(values);
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 });
  const aggregation = { type: 5, options: { maxSize: 160 } } as const; // EXPONENTIAL_HISTOGRAM
  const provider = new MeterProvider({ readers: [reader], views: [{ instrumentName: "own", aggregation }] });
  const own = provider.getMeter("shop").createHistogram("own");
  for (const each of values) own.record(each);
  await reader.forceFlush();
  const { scopeMetrics } = exporter.getMetrics()[0]!;
  await provider.shutdown();
  const { min, max, ...expected } = scopeMetrics[0]!.metrics[0]!.dataPoints[0]!.value as unknown as {
    sum: number;
    min: number;
    max: number;
  };
  expect(max).toBeGreaterThan(min);
  expect(value).toEqual({ ...expected, sum: expect.closeTo(expected.sum, 6) });
});

test("values below 0 have no sum, because sums of OpenTelemetry do not fall", async () => {
  const { value } = await histogramOf([-4, -2, 3]);
  expect(value).toMatchObject({ count: 3, negative: { offset: 7, bucketCounts: { length: 9, 0: 1, 8: 1 } } });
  expect(value).not.toHaveProperty("sum");
});

test("a source that fails, or is late, hides neither the others nor the metrics of the SDK", async () => {
  const window = windowSource({ pay: new MetricWindow({ sampleCount: 1, interval: 1000 }) });
  const away = new Error("away");
  const broken: MetricsSource = { metrics: [], collect: () => Promise.reject(away) };
  const silent: MetricsSource = { metrics: [], collect: () => new Promise(() => {}) };
  const { resourceMetrics, errors } = await otelMetrics([broken, silent, window]).collect({ timeoutMillis: 1 });
  expect(errors).toEqual([away, expect.objectContaining({ message: expect.stringContaining("within 1 ms") })]);
  const names = resourceMetrics.scopeMetrics[0]!.metrics.map(({ descriptor }) => descriptor.name);
  expect(names).toContain("oriel.window.calls.rate");
  const metrics = await exportedBy(otelMetrics(broken));
  expect(metrics.get("own")).toBeDefined();
  expect(metrics.get("oriel.exporter.failed_sources")!.dataPoints[0]!.value).toBe(1);
});
