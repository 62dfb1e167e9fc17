import { afterAll, beforeEach, expect, test, vi } from "vitest";

type Oriel = typeof import("../../src/entries/index.ts");
const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
const warnings = () => emit.mock.calls.filter(([, options]) => `${JSON.stringify(options)}`.includes("AS_FRACTIONS"));

/** As in another process: a warning comes once. */
let oriel: Oriel;
beforeEach(async () => {
  vi.resetModules();
  emit.mockClear();
  oriel = await import("../../src/entries/index.ts");
});
afterAll(() => emit.mockRestore());

const times = BigInt64Array.of(1n, 2n);
const values = Float64Array.of(1, 2);

/** Everything that takes percentiles. */
const CALLS: Record<string, (percentiles: number[]) => unknown> = {
  "Series.stats": (percentiles) => new oriel.Series(oriel.memoryStore(), "s").stats({ percentiles }),
  "Series.explain": (percentiles) => new oriel.Series(oriel.memoryStore(), "s").explain({ percentiles }),
  "Series.stats of several": (percentiles) =>
    oriel.Series.stats([new oriel.Series(oriel.memoryStore(), "s")], { percentiles }),
  "Series.recordAndGet": (percentiles) => new oriel.Series(oriel.memoryStore(), "s").recordAndGet(1, { percentiles }),
  "LocalSeries.stats": (percentiles) => new oriel.LocalSeries().stats({ percentiles }),
  "LocalSeries.percentile": ([p]) => new oriel.LocalSeries().percentile(p!),
  "MetricWindow.percentile": ([p]) =>
    new oriel.MetricWindow({ sampleCount: 2, interval: 1000, percentiles: true }).latencyPercentileMs(p!),
  "FleetMetrics.latencyPercentilesMs": (percentiles) =>
    new oriel.FleetMetrics(oriel.memoryStore(), "f", { percentiles: true }).latencyPercentilesMs("m", percentiles),
  "kernel.stats": (percentiles) => oriel.kernel.stats(times, values, 0, { percentiles }),
  "kernel.percentile": (percentiles) => oriel.kernel.percentile(values, percentiles),
  rollingPercentile: (percentiles) => oriel.rollingPercentile(times, values, { span: 10, percentiles }),
  windowSource: (percentiles) => oriel.windowSource({}, { percentiles }),
  fleetSource: (percentiles) =>
    oriel.fleetSource(new oriel.FleetMetrics(oriel.memoryStore(), "f", { percentiles: true }), {
      scope: "fleet",
      percentiles,
    }),
  seriesSource: (percentiles) =>
    oriel.seriesSource(new oriel.Series(oriel.memoryStore(), "s"), { span: 1000, percentiles }),
};

test.each(Object.keys(CALLS))("%s: fractions cause a warning once per process, percents never", async (name) => {
  const call = CALLS[name]!;
  for (const right of [50, 1.5, 99.9, 100, 1, 0]) await call([right]);
  expect(warnings()).toEqual([]);
  await call([0.29]);
  await call([0.95]);
  expect(warnings()).toEqual([
    [
      "percentiles is [0.29]: each is in percent, from 0 to 100; did you mean 29?",
      { type: "OrielWarning", code: "ORIEL_PERCENTILES_AS_FRACTIONS" },
    ],
  ]);
});

test("a fraction among percents is a percentile, as are 0 and 1", async () => {
  const { stats } = oriel.kernel;
  for (const percentiles of [[0.1, 50], [0, 1], [1], [0], []]) stats(times, values, 0, { percentiles });
  expect(warnings()).toEqual([]);
  stats(times, values, 0, { percentiles: [0, 0.5, 1] });
  expect(warnings()).toHaveLength(1);
});
