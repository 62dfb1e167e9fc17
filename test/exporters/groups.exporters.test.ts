import { expect, test } from "vitest";
import {
  memoryStore,
  prometheusText,
  redisStore,
  registerAll,
  Series,
  SeriesGroup,
  type Store,
  seriesSource,
} from "../../src/entries/index.ts";
import { otelMetrics, prometheusAnswer } from "../../src/entries/telemetry.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { promtool } from "./prometheus/server.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

const lines = async (source: ReturnType<typeof registerAll>) =>
  Object.fromEntries(
    (await prometheusText(source))
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))] as const),
  );

async function onRedis(): Promise<Store> {
  const store = redisStore((await redis()).url, { onWarning: null });
  atEnd(() => store.close());
  return store;
}

function groupOn<const Labels extends readonly string[]>(store: Store, name: string, labels: Labels) {
  const group = new SeriesGroup(store, name, { labels });
  atEnd(() => group.close());
  return group;
}

test("each group has a histogram of this process, and the exact numbers of all processes, which stats gives", async () => {
  const [store, another] = [await onRedis(), await onRedis()];
  const early = groupOn(store, "http", ["route", "method"]);
  const all = registerAll(store, { fleet: "every", series: { percentiles: [50, 99], buckets: [2, 4] } });
  const late = groupOn(store, "late", ["route"]);
  await late.record(-3, { route: "/" });
  for (const value of [1, 2, 3.5]) await early.record(value, { route: "/cart", method: "GET" });
  await early.record(7, { route: "/pay", method: "POST" });
  await groupOn(another, "http", ["route", "method"]).record(9, { route: "/pay", method: "POST" });
  const text = await lines(all);
  expect(text).toMatchObject({
    'oriel_series_group_values_bucket{name="http",route="/cart",method="GET",le="2"}': 2,
    'oriel_series_group_values_bucket{name="http",route="/cart",method="GET",le="+Inf"}': 3,
    'oriel_series_group_values_sum{name="http",route="/cart",method="GET"}': 6.5,
    'oriel_series_group_values_count{name="http",route="/pay",method="POST"}': 1,
    'oriel_series_group_values_sum{name="late",route="/"}': -3,
    'oriel_fleet_series_group_groups{name="http"}': 2,
    oriel_exporter_failed_sources: 0,
  });
  const { rows } = await early.stats({ span: "1m", percentiles: [50, 99] });
  expect(rows).toHaveLength(2);
  for (const { labels, count, mean, min, max, percentiles } of rows) {
    const own = `name="http",route="${labels.route}",method="${labels.method}"`;
    expect(text).toMatchObject({
      [`oriel_fleet_series_group_events{${own}}`]: count,
      [`oriel_fleet_series_group_mean{${own}}`]: mean,
      [`oriel_fleet_series_group_min{${own}}`]: min,
      [`oriel_fleet_series_group_max{${own}}`]: max,
      [`oriel_fleet_series_group_percentile{${own},percentile="50",span="1m"}`]: percentiles[50],
      [`oriel_fleet_series_group_percentile{${own},percentile="99",span="1m"}`]: percentiles[99],
    });
  }
});

test("a scrape asks the store once for the events of a group, and once for its names", async () => {
  const store = await onRedis();
  const group = groupOn(store, "asked", ["route"]);
  const all = registerAll(store, { fleet: "every" });
  for (let i = 0; i < 50; i++) await group.record(i, { route: `/r${i}` });
  await lines(all);
  const asked: string[] = [];
  const { run } = store;
  Object.assign(store, {
    run: (...call: Parameters<typeof run>) => {
      asked.push(call[0].name);
      return run(...call);
    },
  });
  expect(Object.keys(await lines(all)).filter((key) => key.includes("group_events{"))).toHaveLength(50);
  // Upkeep, such as the announcement, goes its own way.
  expect(asked.filter((name) => /read|intern/.test(name))).toEqual(["journal/read", "groups/intern"]);
});

test("labels that the metrics have themselves are renamed, none meet, and values of any kind are escaped", async () => {
  const store = memoryStore();
  const labels = ["name", "label_name", "percentile", "span", "le", "__x", "route"] as const;
  const group = groupOn(store, "odd", labels);
  const source = seriesSource(group);
  const route = 'a"b\\c\nd\u202e{}=,é';
  const values = { name: "1", label_name: "2", percentile: "3", span: "4", le: "5", __x: "", route };
  await group.record(1, values);
  const own =
    'name="odd",label_name="1",label_label_name="2",label_percentile="3",label_span="4",label_le="5",label___x="",' +
    'route="a\\"b\\\\c\\nd\u202e{}=,é"';
  expect(await lines(source)).toMatchObject({
    [`oriel_fleet_series_group_percentile{${own},percentile="50",span="1m"}`]: 1,
    [`oriel_series_group_values_bucket{${own},le="1"}`]: 1,
    oriel_exporter_failed_sources: 0,
  });
  expect(promtool(["check", "metrics"], await prometheusText(source))).toEqual({ status: 0, output: "" });
});

test("groups beyond maxNames share one histogram, and those with the most events have gauges", async () => {
  const store = memoryStore();
  const group = groupOn(store, "many", ["user"]);
  const all = registerAll(store, { maxNames: 3, fleet: "every" });
  for (let i = 0; i < 6; i++) for (let n = 0; n <= i; n++) await group.record(1, { user: `u${i}` });
  const text = await lines(all);
  const of = (name: string) =>
    Object.entries(text).flatMap(([key, value]) =>
      key.startsWith(`oriel_${name}{`) ? [[key.match(/user="(\w+)"/)?.[1], value]] : [],
    );
  expect(of("series_group_values_count")).toEqual([
    ["u0", 1],
    ["u1", 2],
    ["u2", 3],
    ["_other", 15],
  ]);
  expect(of("fleet_series_group_events")).toEqual([
    ["u5", 6],
    ["u4", 5],
    ["u3", 4],
  ]);
  expect(text['oriel_fleet_series_group_groups{name="many"}']).toBe(6);
});

test("one elected process reports a group, and each its own histogram", async () => {
  const stores = [await onRedis(), await onRedis()];
  const groups = stores.map((store) => groupOn(store, "elected", ["route"]));
  const sources = stores.map((store) => registerAll(store));
  for (const group of groups) await group.record(5, { route: "/" });
  const texts = [await lines(sources[0]!), await lines(sources[1]!)];
  const of = (name: string) => texts.flatMap((text) => text[`oriel_${name}{name="elected",route="/"}`] ?? []);
  expect(of("series_group_values_count")).toEqual([1, 1]);
  expect(of("fleet_series_group_events")).toEqual([2]);
});

test("OpenTelemetry and native histograms have the groups too", async () => {
  const store = memoryStore();
  const group = groupOn(store, "http", ["route"]);
  const source = seriesSource(group, { percentiles: [99], span: "5m" });
  for (const value of [1, 10, 100]) await group.record(value, { route: "/cart" });
  const { resourceMetrics, errors } = await otelMetrics(source).collect();
  expect(errors).toEqual([]);
  const { metrics } = resourceMetrics.scopeMetrics[0]!;
  const pointsOf = (name: string) => metrics.find(({ descriptor }) => descriptor.name === name)!.dataPoints;
  expect(pointsOf("oriel.fleet.series_group.percentile")).toMatchObject([
    { attributes: { name: "http", route: "/cart", percentile: "99", span: "5m" }, value: expect.closeTo(98.2, 4) },
  ]);
  expect(pointsOf("oriel.series_group.values")).toMatchObject([
    { attributes: { name: "http", route: "/cart" }, value: { count: 3, sum: 111, scale: 3 } },
  ]);
  const accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
  const { body } = await prometheusAnswer(source, accept);
  expect(new TextDecoder().decode(body as Uint8Array)).toContain("oriel_series_group_values");
});

test("a window without events has no group, and an event that the store refused is not counted", async () => {
  const store = memoryStore();
  const group = groupOn(store, "empty", ["route"]);
  const source = seriesSource(group);
  await group.record(1, { route: "/old" }, { at: 1000 }).catch(() => {});
  expect(await lines(source)).toEqual({
    'oriel_fleet_series_group_groups{name="empty"}': 0,
    oriel_exporter_failed_sources: 0,
  });
});

test("a series with labels stops no other structure, and seriesSource says what it takes", async () => {
  const store = memoryStore();
  groupOn(store, "early", ["route"]);
  const all = registerAll(store);
  groupOn(store, "late", ["route"]);
  const series = new Series(store, "latency");
  await series.record(5);
  expect(await lines(all)).toMatchObject({
    'oriel_series_values_count{name="latency"}': 1,
    oriel_exporter_failed_sources: 0,
  });
  await series.close();
  for (const wrong of [undefined, null, 5, {}, { labels: ["a"] }])
    expect(() => seriesSource(wrong as never)).toThrow(
      expect.objectContaining({ code: "ARGUMENT", message: expect.stringContaining("a Series or a SeriesGroup") }),
    );
});
