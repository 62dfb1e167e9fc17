import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import {
  FleetMetrics,
  fleetSource,
  MetricWindow,
  memoryStore,
  prometheusText,
  registerPrometheus,
  windowSource,
} from "../../src/entries/index.ts";
import { otelMetrics, prometheusAnswer } from "../../src/entries/telemetry.ts";

const HOSTILE = 'a"b\\c\nd{}';

function windows() {
  const nowMs = 1_000_000;
  const of = () => new MetricWindow({ sampleCount: 10, interval: 10_000, percentiles: true, clock: () => nowMs });
  const all = { pay: of(), [HOSTILE]: of(), idle: of() };
  for (const latencyMs of [100, 200, 300, 400]) all.pay.recordSuccess(latencyMs);
  all.pay.addFailure(20);
  all.pay.addDenied(5);
  all[HOSTILE]!.addAllowed(10);
  return all;
}

const LABELS = { service: "shop" };
const PERCENTILES = { percentiles: [50, 99.9] };
const source = () => windowSource(windows(), PERCENTILES);
const EXPECTED = [
  ["oriel_window_calls_per_second", { name: "pay", outcome: "success" }, 0.4],
  ["oriel_window_calls_per_second", { name: "pay", outcome: "failure" }, 2],
  ["oriel_window_calls_per_second", { name: "pay", outcome: "allowed" }, 0],
  ["oriel_window_calls_per_second", { name: "pay", outcome: "denied" }, 0.5],
  ["oriel_window_calls_per_second", { name: HOSTILE, outcome: "allowed" }, 1],
  ["oriel_window_response_time_mean_seconds", { name: "pay" }, 0.25],
  ["oriel_window_response_time_min_seconds", { name: "pay" }, 0.1],
  ["oriel_window_response_time_max_seconds", { name: "pay" }, 0.4],
  ["oriel_window_response_time_percentile_seconds", { name: "pay", percentile: "50", span: "10s" }, 0.25],
  ["oriel_window_response_time_percentile_seconds", { name: "pay", percentile: "99.9", span: "10s" }, 0.3997],
] as const;

interface Parsed {
  types: Map<string, string>;
  samples: { metric: string; labels: Record<string, string>; value: number }[];
}

/** By the published grammar of the text format; throws for a line that is not of it. */
function parse(text: string): Parsed {
  const parsed: Parsed = { types: new Map(), samples: [] };
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    const type = /^# TYPE (\w+) (\w+)$/.exec(line);
    if (type) parsed.types.set(type[1]!, type[2]!);
    if (line.startsWith("#") || line === "") continue;
    const [, metric, labelText, value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line)!;
    const labels: Record<string, string> = {};
    const rest = (labelText ?? "").replace(
      /(\w+)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/g,
      (_, name: string, escaped: string) => {
        labels[name] = escaped.replace(/\\(.)/g, (_, each: string) => (each === "n" ? "\n" : each));
        return "";
      },
    );
    expect(rest).toBe("");
    parsed.samples.push({ metric: metric!, labels, value: Number(value) });
  }
  return parsed;
}

function expectNumbers({ types, samples }: Parsed): void {
  for (const [metric, labels, value] of EXPECTED) {
    const found = samples.filter((each) => each.metric === metric && matches(each.labels, { ...labels, ...LABELS }));
    expect(found, `${metric} ${JSON.stringify(labels)}`).toHaveLength(1);
    expect(found[0]!.value).toBeCloseTo(value, 9);
  }
  expect(samples.filter(({ metric, labels }) => labels.name === "idle" && /time/.test(metric))).toEqual([]);
  expect(samples.every(({ value }) => Number.isFinite(value))).toBe(true);
  expect(samples).toHaveLength(12 + 3 + 2 + 1);
  expect([...new Set(types.values())]).toEqual(["gauge"]);
}

const matches = (labels: Record<string, string>, wanted: Record<string, string>) =>
  Object.keys(labels).length === Object.keys(wanted).length &&
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

const OPTIONS = { labels: LABELS };

describe("Prometheus", () => {
  test("the text has each number once, in base units, with hostile names escaped", async () => {
    expectNumbers(parse(await prometheusText(source(), OPTIONS)));
    expect(parse(await prometheusText([])).samples).toEqual([
      { metric: "oriel_exporter_failed_sources", labels: {}, value: 0 },
    ]);
  });

  test("a registry of prom-client is scraped over HTTP together with its own metrics", async () => {
    const registry = new Registry();
    const end = registerPrometheus(registry, source(), OPTIONS);
    const server = createServer(async (_, response) => {
      response.setHeader("content-type", registry.contentType);
      response.end(await registry.metrics());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const scrape = () =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`).then((answer) => answer.text());
    expectNumbers(parse(await scrape()));
    expect(() => registerPrometheus(registry, source())).toThrow(/already/);
    end();
    expect((await scrape()).trim()).toBe("");
    server.close();
  });

  test("one scrape reads a fleet once for all gauges, and labels entries without a name of their own", async () => {
    let reads = 0;
    const fleet = new FleetMetrics(memoryStore(), "shop", { percentiles: true, maxNames: 1, flush: "1h" });
    const readAll = fleet.readAll.bind(fleet);
    fleet.readAll = () => {
      reads++;
      return readAll();
    };
    const registry = new Registry();
    registerPrometheus(registry, fleetSource(fleet, { scope: "both" }));
    fleet.metric("_other").recordSuccess(250);
    for (const user of ["user-1", "user-2"]) fleet.metric(user).addDenied();
    const { samples, types } = parse(await registry.metrics());
    expect(reads).toBe(1);
    expect(new Set(samples.flatMap(({ labels }) => labels.name ?? []))).toEqual(new Set(["_other", "__other"]));
    const sample = (metric: RegExp, name: string, more = {}) =>
      samples.find((each) => metric.test(each.metric) && matches(each.labels, { fleet: "shop", name, ...more }))?.value;
    expect(sample(/fleet_response_time_max_seconds/, "__other")).toBe(0.25);
    for (const percentile of ["50", "90", "99"])
      expect(sample(/percentile_seconds/, "__other", { percentile, span: "1m" })).toBe(0.25);
    expect(sample(/calls_total/, "_other", { outcome: "denied" })).toBe(2);
    expect(sample(/calls_total/, "__other", { outcome: "success" })).toBe(1);
    expect(sample(/oriel_response_time_seconds_sum/, "__other")).toBe(0.25);
    expect(types.get("oriel_calls_total")).toBe("counter");
    expect(types.get("oriel_fleet_calls_per_second")).toBe("gauge");
    await fleet.close();
  });
});

test.each<[string, object]>([
  ["prefix", { prefix: "1x" }],
  ["prefix", { prefix: "a-b" }],
  ["prefix", { prefix: 5 }],
  ["labels", { labels: { outcome: "x" } }],
  ["labels", { labels: { "a b": "x" } }],
  ["labels.a", { labels: { a: 1 } }],
  ["unknown", { unknown: 1 }],
])("%s of %j is refused", async (argument, options) => {
  const refusal = { code: "ARGUMENT", message: expect.stringContaining(argument) };
  await expect(prometheusText([], options as object)).rejects.toMatchObject(refusal);
  await expect(prometheusAnswer([], "", options as object)).rejects.toMatchObject(refusal);
  expect(() => registerPrometheus(new Registry(), [], options as object)).toThrow(expect.objectContaining(refusal));
  expect(() => otelMetrics([], options as object)).toThrow(expect.objectContaining(refusal));
});
