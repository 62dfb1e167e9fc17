import { expect, test } from "vitest";
import { FleetMetrics, type FleetMetricsOptions } from "../../src/entries/index.ts";
import { memoryStore } from "../../src/entries/memory-store.ts";

const store = memoryStore();

test.each<[string, object]>([
  ["sampleCount", { sampleCount: 0 }],
  ["sampleCount", { sampleCount: 601 }],
  ["sampleCount", { sampleCount: 1.5 }],
  ["interval", { interval: 0 }],
  ["interval", { interval: "8d" }],
  ["interval", { interval: 61, sampleCount: 60 }],
  ["maxNames", { maxNames: 0 }],
  ["maxNames", { maxNames: 1001 }],
  ["flush", { flush: 0 }],
  ["mode", { mode: "future" }],
  ["percentiles", { percentiles: 1 }],
  ["unknown", { unknown: 1 }],
])("%s of %j is refused", (argument, options) => {
  expect(() => new FleetMetrics(store, "shop", options as FleetMetricsOptions)).toThrow(
    expect.objectContaining({ code: "ARGUMENT", message: expect.stringContaining(argument) }),
  );
});

test("invalid names and numbers are refused, and nothing is counted", async () => {
  expect(() => new FleetMetrics(store, "")).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
  const fleet = new FleetMetrics(store, "shop", { flush: "1h" });
  for (const name of ["", "x".repeat(513), 5 as unknown as string])
    expect(() => fleet.metric(name)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
  const metric = fleet.metric("pay");
  for (const count of [-1, 0.5, Number.NaN, "1" as unknown as number])
    for (const add of ["addSuccess", "addFailure", "addAllowed", "addDenied"] as const)
      expect(() => metric[add](count)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
  for (const latencyMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, "1" as unknown as number])
    expect(() => metric.recordSuccess(latencyMs)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
  const view = await fleet.read("pay");
  expect([view.success(), view.failure(), view.allowed(), view.denied(), view.latencySumMs()]).toEqual([0, 0, 0, 0, 0]);
  await fleet.close();
});
