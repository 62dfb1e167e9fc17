// A real Prometheus with native histograms scrapes this process, as the histograms of Protocol Buffers.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryStore, prometheusText, registerAll, Series } from "../../../src/entries/index.ts";
import { prometheusAnswer } from "../../../src/entries/telemetry.ts";
import { until } from "../../harness/until.ts";
import { type PrometheusServer, startPrometheus } from "./server.ts";

const LABELS = { service: 'a"b\\c\nd' };
const store = memoryStore();
const metrics = registerAll(store);
const series = ["one", "two"].map((name) => new Series(store, name));
const values = [
  [-8, -2, -2, 0, 0.001, 1, 2, 4, 4, 4, 1000],
  Array.from({ length: 2000 }, (_, i) => Math.fround(1.05 ** (i / 3))),
];
const types = new Set<string>();
const server = createServer(async (request, response) => {
  const { contentType, body } = await prometheusAnswer(metrics, request.headers.accept, { labels: LABELS });
  types.add(contentType.split(";")[0]!);
  response.writeHead(200, { "content-type": contentType }).end(body);
});
let prometheus: PrometheusServer;

beforeAll(async () => {
  for (const [i, each] of series.entries()) await each.recordMany(values[i]!);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  prometheus = await startPrometheus([target], ["--enable-feature=native-histograms"]);
  await until("it is scraped", async () => (await prometheus.query("oriel_fleet_series_events")).length === 2);
});
afterAll(async () => {
  await prometheus?.stop();
  server.close();
  for (const each of series) await each.close();
});

const value = async (expression: string) => (await prometheus.query(expression)).map((each) => each.value);

test("Prometheus asks for Protocol Buffers, and stores exact counts and sums", async () => {
  expect([...types]).toEqual(["application/vnd.google.protobuf"]);
  for (const [i, name] of ["one", "two"].entries()) {
    expect(await value(`histogram_count(oriel_series_values{name="${name}"})`)).toEqual([values[i]!.length]);
    const sum = values[i]!.reduce((a, b) => a + b);
    expect(await value(`histogram_sum(oriel_series_values{name="${name}"})`)).toEqual([expect.closeTo(sum, 6)]);
  }
  expect(await value("histogram_count(sum(oriel_series_values))")).toEqual([values.flat().length]);
});

test.each([
  [-1, 3],
  [0.5, 5],
  [1, 6],
  [2, 7],
  [4, 10],
  [1024, 11],
])("the values up to %d are counted exactly", async (bound, count) => {
  const [share] = await value(`histogram_fraction(-Inf, ${bound}, oriel_series_values{name="one"})`);
  expect(share! * values[0]!.length).toBeCloseTo(count, 9);
});

test.each([50, 90, 99])("a quantile is within a bucket of the exact percentile %d", async (percentile) => {
  const [exact] = await value(`oriel_fleet_series_percentile{name="two",percentile="${percentile}"}`);
  const [estimate] = await value(`histogram_quantile(${percentile / 100}, oriel_series_values{name="two"})`);
  expect(Math.abs(Math.log2(estimate! / exact!))).toBeLessThanOrEqual(1 / 4);
});

test("a histogram without values has the quantile NaN, which is above nothing, as an alert requires", async () => {
  const none = 'oriel_series_values{name="none"}';
  series.push(new Series(store, "none"));
  await until("it is scraped", async () => (await value(`histogram_count(${none})`))[0] === 0);
  expect(await value(`histogram_quantile(0.5, ${none})`)).toEqual([Number.NaN]);
  expect(await value(`histogram_quantile(0.5, ${none}) > -1`)).toEqual([]);
  expect(await value('histogram_quantile(0.5, oriel_series_values{name="two"}) > -1')).toHaveLength(1);
});

test("each other number and label is that of the text", async () => {
  const text = await prometheusText(metrics, { labels: LABELS });
  const lines = [...text.matchAll(/^(oriel_\w+)\{(.*)\} (\S+)$/gm)].filter(([, name]) => !name!.includes("_values_"));
  expect(lines.length).toBeGreaterThan(10);
  for (const [, name, labels, number] of lines)
    expect([name, labels, await value(`${name}{${labels}}`)]).toEqual([name, labels, [Number(number)]]);
});

const PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
test.each([
  [undefined, "text"],
  [null, "text"],
  ["*/*", "text"],
  ["application/vnd.google.protobuf", "text"],
  [`${PROTOBUF};q=0.1,text/plain;q=0.5`, "text"],
  [`${PROTOBUF};q=0,*/*;q=0`, "text"],
  [`${PROTOBUF};q=x`, "text"],
  [PROTOBUF, "protobuf"],
  [`application/openmetrics-text;q=0.9, ${PROTOBUF};q=0.7, text/plain;version=0.0.4;q=0.6, */*;q=0.1`, "protobuf"],
])("the field Accept %j gets %s", async (accept, format) => {
  const { contentType, body } = await prometheusAnswer([], accept);
  expect(contentType.includes(format)).toBe(true);
  expect(typeof body === "string").toBe(format === "text");
});
