import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Child, startChild } from "../../harness/child.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { documented } from "../documented.ts";
import { type PrometheusSample, type PrometheusServer, promtool, startPrometheus } from "./server.ts";

const path = (name: string) => fileURLToPath(new URL(`../../../docs/grafana/${name}`, import.meta.url));
const dashboard = JSON.parse(readFileSync(path("oriel.json"), "utf8"));

/** The numbers of one process of the workload, and those of all processes. */
interface Numbers {
  own: Record<"allowed" | "denied" | "shadow" | "recorded" | "sum" | "calls" | "handled", number>;
  counts: Record<"waiting" | "due" | "claimed" | "dead", number>;
  stats: { count: number; mean: number; min: number; max: number; percentiles: Record<number, number> };
  calls: number;
  state: string;
}

let redis: RedisServer;
let children: Child[];
let urls: string[];
let prometheus: PrometheusServer;
let numbers: Numbers[];
const ask = async (url: string, what: string) => {
  const answer = await fetch(`${url}/${what}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
};
const value = async (expression: string) => {
  const samples = await prometheus.query(expression);
  expect(samples, expression).toHaveLength(1);
  return samples[0]!.value;
};
const total = (of: keyof Numbers["own"]) => numbers.reduce((sum, { own }) => sum + own[of], 0);

beforeAll(async () => {
  redis = await startRedis();
  children = ["one", "two"].map((name) => startChild(new URL("./workload.ts", import.meta.url), [redis.url, name]));
  await Promise.all(children.map((child) => child.printed(1)));
  urls = children.map(({ lines }) => `http://127.0.0.1:${lines[0]}`);
  prometheus = await startPrometheus(urls.map((url) => url.slice("http://".length)));
  await until("both are scraped", async () => (await value("sum(oriel_store_up)")) === 2);
  // Several scrapes see each counter rise, as rates need.
  for (let round = 1; round <= 4; round++) {
    for (const url of urls) await ask(url, "work");
    const recorded = 2 * 5 * round;
    await until(
      "a scrape sees it",
      async () => (await value("sum(oriel_series_values_count)")) === recorded,
      30_000,
      100,
    );
  }
  await until(
    "all messages are handled and all counts drained",
    async () =>
      (await value('sum(oriel_queue_worker_messages_total{event="completed"})')) === 8 &&
      (await value("sum(oriel_drain_events_total)")) === 8 &&
      (await value('sum(oriel_fleet_queue_messages{state="waiting"})')) === 8 &&
      // An answer of a series may be a second old.
      (await value("sum(oriel_fleet_series_events)")) === 40,
    30_000,
    100,
  );
  numbers = await Promise.all(urls.map(async (url) => (await ask(url, "numbers")).json() as Promise<Numbers>));
});

afterAll(async () => {
  await prometheus?.stop();
  for (const child of children ?? []) await child.kill();
  await redis?.stop();
});

describe("two processes under a real Prometheus", () => {
  test("sums of counters and histograms are the processes' own numbers", async () => {
    expect(await value('sum by (name) (oriel_limiter_decisions_total{outcome="allowed"})')).toBe(total("allowed"));
    expect(await value('sum by (name) (oriel_limiter_decisions_total{outcome="denied"})')).toBe(total("denied"));
    expect(await value("sum by (name) (oriel_limiter_shadow_denials_total)")).toBe(total("shadow"));
    expect(await value("sum by (name) (oriel_series_values_count)")).toBe(total("recorded"));
    expect(await value("sum by (name) (oriel_series_values_sum)")).toBe(total("sum"));
    expect(await value('sum by (name) (oriel_calls_total{outcome="success"})')).toBe(total("calls"));
    expect(await value("sum by (name) (oriel_response_time_seconds_count)")).toBe(total("calls"));
    expect(await value('sum by (name) (oriel_queue_worker_messages_total{event="completed"})')).toBe(total("handled"));
    expect(await value("sum by (name) (oriel_queue_handling_seconds_count)")).toBe(total("handled"));
    expect(await value("sum by (name) (oriel_queue_lateness_seconds_count)")).toBe(total("handled") + 2);
    expect(total("denied")).toBe(16);
    expect(await value("sum by (name) (oriel_drain_active)")).toBe(1);
  });

  test("sums of the numbers of all processes are the truth, and not twice of it", async () => {
    const { stats, counts, calls } = numbers[0]!;
    expect(await value("sum by (name) (oriel_fleet_series_events)")).toBe(stats.count);
    for (const of of ["mean", "min", "max"] as const)
      expect(await value(`sum by (name) (oriel_fleet_series_${of})`)).toBeCloseTo(stats[of], 6);
    for (const p of [50, 90, 99])
      expect(await value(`sum by (name) (oriel_fleet_series_percentile{percentile="${p}"})`)).toBeCloseTo(
        stats.percentiles[p]!,
        6,
      );
    for (const state of ["waiting", "due", "claimed", "dead"] as const)
      expect(await value(`sum by (name) (oriel_fleet_queue_messages{state="${state}"})`)).toBe(counts[state]);
    expect(counts).toMatchObject({ waiting: 8, dead: 2 });
    const perSecond = await value('sum by (name) (oriel_fleet_calls_per_second{name="pay",outcome="success"})');
    expect(perSecond * 1800).toBeCloseTo(calls, 6);
    expect(numbers.map(({ state }) => state)).toEqual(["open", "open"]);
    expect(await value('sum by (name) (oriel_breaker_state{state="open"})')).toBe(2);
  });

  test("each query of the dashboard answers with numbers", async () => {
    const expressions = expressionsOf(dashboard);
    expect(expressions.length).toBeGreaterThan(40);
    const wrong: [string, PrometheusSample[]][] = [];
    for (const expression of expressions) {
      const samples = await prometheus.query(expression.replaceAll("$__rate_interval", "5m").replaceAll("$name", ".*"));
      if (samples.length === 0 || !samples.every((sample) => Number.isFinite(sample.value)))
        wrong.push([expression, samples]);
    }
    expect(wrong).toEqual([]);
  });

  test("the dashboard and the alerts use only metrics that are exported", async () => {
    const exported = (await Promise.all(urls.map(async (url) => (await ask(url, "metrics")).text()))).join("");
    const names = new Set([...exported.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name]) => name!));
    const alerts = readFileSync(path("alerts.yml"), "utf8");
    const used = [...expressionsOf(dashboard), alerts].flatMap((text) => text.match(/oriel_[a-z_]+/g) ?? []);
    const known = (name: string) => names.has(name) || names.has(name.replace(/_(bucket|sum|count)$/, ""));
    expect(used.filter((name) => !known(name))).toEqual([]);
  });

  test("each sample has the labels that docs/monitoring.md lists", async () => {
    const labels = new Map(documented().map((each) => [`oriel_${each.name}`, each.labels]));
    const text = (await Promise.all(urls.map(async (url) => (await ask(url, "metrics")).text()))).join("");
    for (const [, sample, given] of text.matchAll(/^(oriel_\w+)(?:\{(.*)\})? \S+$/gm)) {
      const listed = labels.get(sample!) ?? labels.get(sample!.replace(/_(bucket|sum|count)$/, ""));
      const own = [...(given ?? "").matchAll(/(\w+)="/g)].map(([, name]) => name).filter((name) => name !== "le");
      expect([sample, own]).toEqual([sample, listed]);
    }
  });

  test("promtool accepts what is exported", async () => {
    for (const url of urls) {
      const text = await (await ask(url, "metrics")).text();
      expect(promtool(["check", "metrics"], text)).toEqual({ status: 0, output: "" });
    }
  });

  test("while the elected process dies and another one takes over, no sum is ever too large", async () => {
    const messages = 'sum by (name) (oriel_fleet_queue_messages{state="waiting"})';
    const elected = (await prometheus.query('oriel_fleet_queue_messages{state="waiting"}'))[0]!.labels.instance;
    const [dead, other] = urls[0]!.endsWith(elected!) ? [0, 1] : [1, 0];
    await children[dead]!.kill();
    const isOther = ({ labels }: PrometheusSample) => urls[other]!.endsWith(labels.instance!);
    const reports = async () => (await prometheus.query('oriel_fleet_queue_messages{state="waiting"}')).some(isOther);
    await until("the other process reports", reports);
    expect(await value(messages)).toBe(8);
    expect(await value(`max_over_time((${messages})[5m:250ms])`)).toBe(8);
    expect(await value("max_over_time((sum by (name) (oriel_fleet_series_events))[5m:250ms])")).toBe(40);
  });
});

/** The expressions of all panels. */
function expressionsOf(board: { panels: { targets?: { expr: string }[] }[] }): string[] {
  return board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
