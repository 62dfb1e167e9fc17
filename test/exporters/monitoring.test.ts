import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MetricWindow, memoryStore, registerAll, windowSource } from "../../src/entries/index.ts";
import { metricsOf } from "../../src/operate/exporters/collect.ts";
import { documented } from "./documented.ts";

const window = new MetricWindow({ sampleCount: 1, interval: 1000 });
const exported = metricsOf([registerAll(memoryStore()), windowSource({ window })]);

test("the table of docs/monitoring.md lists exactly the metrics that are exported", () => {
  const rows = documented().map(({ name, type, help, unit }) => ({ name, type, help, unit }));
  const metrics = exported.map(({ prometheus, type, help, unit }) => ({
    name: prometheus,
    type,
    help,
    unit: unit.replace(/[{}]/g, ""),
  }));
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
  expect(rows.sort(byName)).toEqual(metrics.sort(byName));
});

test("the names say how a metric is summed", () => {
  for (const { prometheus, type, isShared } of exported) {
    expect([prometheus, prometheus.startsWith("fleet_")]).toEqual([prometheus, isShared]);
    expect([prometheus, prometheus.endsWith("_total")]).toEqual([prometheus, type === "counter"]);
  }
});

test("the table of alerts lists each rule once", () => {
  const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
  const rows = [...read("monitoring.md").matchAll(/^\| `(Oriel\w+)` \|/gm)].map(([, name]) => name);
  const rules = [...read("grafana/alerts.yml").matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  expect(rows).toEqual(rules);
});
