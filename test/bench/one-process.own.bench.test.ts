import { describe, expect, test } from "vitest";
import { draw, shuffled } from "../../bench/distributions.ts";
import { benchImports, SMALL_IMPORTS } from "../../bench/imports.ts";
import { benchBlocks, SMALL_BLOCKS } from "../../bench/kernel/blocks.ts";
import { benchRolling, SMALL_ROLLING } from "../../bench/kernel/rolling.ts";
import { benchSketches, SMALL_SKETCHES } from "../../bench/kernel/sketches.ts";
import { takeTurns } from "../../bench/lock/turns.ts";
import { benchMetrics, SMALL_METRICS } from "../../bench/metrics.ts";
import { COMPRESSORS } from "../../bench/rivals/compression/compressor.ts";
import { METRICS_RIVALS, metricsMissing } from "../../bench/rivals/metrics.ts";
import { NumpyProcess, numpyMissing } from "../../bench/rivals/python/numpy.ts";
import { type RollingLibrary, rollingBy, rollingMissing } from "../../bench/rivals/rolling.ts";
import { SKETCHES, sketchMissing } from "../../bench/rivals/sketch.ts";
import { sortedPercentile, typedArrayPipeline } from "../../bench/rivals/typed-array.ts";
import { benchCompact, SMALL_COMPACT } from "../../bench/series/compact.ts";
import { benchHeld, SMALL_HELD } from "../../bench/series/held.ts";
import { benchLive, SMALL_LIVE } from "../../bench/series/live.ts";
import { benchPipeline, SMALL_PIPELINE } from "../../bench/series/pipeline.ts";
import { benchResident, SMALL_RESIDENT } from "../../bench/series/resident.ts";

const reason = numpyMissing();
if (reason) console.warn(`skipped: NumPy: ${reason}`);
const LIBRARIES: RollingLibrary[] = ["pandas", "bottleneck"];
for (const library of LIBRARIES) if (rollingMissing(library)) console.warn(`skipped: ${rollingMissing(library)}`);

describe("rivals in one process", () => {
  const times = BigInt64Array.of(5n, 1n, 4n, 2n, 3n);
  const values = Float32Array.of(50, 10, 40, 20, 30);

  test("a loop and TypedArray.sort: from < t <= to", () => {
    const run = typedArrayPipeline(times, values, 1, 4);
    expect(run()).toEqual({ count: 3, sum: 90, mean: 30, p99: 39.8 });
    expect(run()).toEqual({ count: 3, sum: 90, mean: 30, p99: 39.8 });
  });

  test.runIf(reason === undefined)("NumPy answers for the bytes that it was sent", async () => {
    const numpy = new NumpyProcess();
    try {
      await numpy.load(times, values);
      const p1 = await numpy.run("p1", 1, 4, 3);
      expect(p1.answers.slice(0, 3)).toEqual([3, 90, 30]);
      expect(p1.answers[3]).toBeCloseTo(39.8, 4);
      expect(p1.nanoseconds).toBeGreaterThan(0);
      const p2 = await numpy.run("p2", 1, 4, 1);
      expect(p2.answers.slice(0, 5)).toEqual([3, 90, 30, 20, 40]);
      expect(p2.answers[5]).toBeCloseTo(Math.sqrt(200 / 3), 5);
      expect(p2.answers[6]).toBe(30);
      for (const run of ["partition", "sort"] as const)
        expect((await numpy.run(run, 0, 0, 1)).answers).toEqual([40, 50]);
    } finally {
      numpy.close();
    }
  });

  test.runIf(reason === undefined)("the error includes NumPy's message", async () => {
    const numpy = new NumpyProcess();
    await expect(numpy.run("p1", 0, 1, 1)).rejects.toThrow("python3 ended without an answer");
  });

  test.each(LIBRARIES.filter((library) => !rollingMissing(library)))(
    "%s computes rolling windows of four values",
    async (library) => {
      const values = Float32Array.from({ length: 20 }, (_, i) => (i * 7) % 20);
      const right = [17, 18, 19].map((i) => sortedPercentile(values.slice(i - 3, i + 1), 50));
      const { answers, nanosecondsPerSlide } = await rollingBy(library, values, 4, 50, 2);
      expect(answers).toEqual(right);
      expect(nanosecondsPerSlide).toBeGreaterThan(0);
    },
  );

  test("bottleneck has only the median", async () => {
    await expect(rollingBy("bottleneck", values, 2, 99, 1)).rejects.toThrow("no rolling percentile but p50");
  });

  test.each(SKETCHES.filter((rival) => !sketchMissing(rival)))("$name is near the exact p99", (rival) => {
    const drawn = draw("lognormal", 2_000, 1);
    const sketch = rival.open(drawn.length);
    for (const value of drawn) sketch.record(value);
    expect(sketch.p99() / sortedPercentile(drawn, 99)).toBeCloseTo(1, 1);
    sketch.close?.();
  });
});

test("contenders take turns and are compared within each turn", async () => {
  const calls: string[] = [];
  const contender = (name: string, times: number[]) => ({
    name,
    turnUs: () => {
      calls.push(name);
      return times.shift() as number;
    },
  });
  const turns = await takeTurns([contender("a", [10, 100, 30]), contender("b", [1, 10, 6])], 3);
  expect(calls.join("")).toBe("ababab");
  expect(turns.medianUs("a")).toBe(30);
  expect(turns.timesFaster("b", "a")).toBe(10);
  expect(turns.timesFaster("b", "nobody")).toBeNaN();
});

test("drawn values are equal for equal seeds; an order has every index once", () => {
  for (const distribution of ["lognormal", "uniform", "ties", "drift"] as const) {
    expect(draw(distribution, 100, 1)).toEqual(draw(distribution, 100, 1));
    expect(draw(distribution, 100, 1)).not.toEqual(draw(distribution, 100, 2));
  }
  const order = shuffled(100, 1);
  expect([...order]).not.toEqual([...order].sort((a, b) => a - b));
  expect(new Set(order).size).toBe(100);
});

describe("small benches", () => {
  test("imports: every package is loaded by a process of its own", () => {
    const { rows } = benchImports(SMALL_IMPORTS);
    expect(rows.map((row) => row.import)).toEqual(expect.arrayContaining(["nothing", "oriel", "ioredis", "bullmq"]));
    for (const row of rows) expect(row.cpuMs).toBeGreaterThan(0);
  });

  test("pipeline: every form, checked", async () => {
    const { rows } = await benchPipeline(SMALL_PIPELINE);
    const names = [...(reason ? [] : ["NumPy"]), "TypedArray.sort", "js", "wasm-scalar", "wasm-simd"];
    expect(rows.slice(0, names.length).map((row) => row.by)).toEqual(names);
    expect(rows).toHaveLength(SMALL_PIPELINE.distributions.length * (5 * names.length + (reason ? 0 : 1)));
    for (const row of rows) expect(row.medianUs).toBeGreaterThan(0);
  });

  test("held: p99 and p50 of each adversary are checked", async () => {
    const { rows } = await benchHeld(SMALL_HELD);
    expect(rows).toHaveLength(2 * 10);
    for (const row of rows) expect(row.sumPasses).toBeGreaterThan(0);
  });

  test("resident: queries, memory and ingest are checked", async () => {
    const { rows } = await benchResident(SMALL_RESIDENT);
    expect(rows.map((row) => row.what)).toEqual([
      ...(reason ? [] : ["NumPy: all statistics, p50, p90, p99"]),
      "all statistics, p50, p90, p99",
      "record and p99",
      "a window not asked for before",
      "the same, from sorted runs",
      "ingest one by one",
      "ingest in frames of 32",
      "ingest in frames of 1024",
      "memory, f64",
    ]);
  });

  test("compact: both forms of a series give the same answers", async () => {
    const { rows } = await benchCompact(SMALL_COMPACT);
    expect(rows.map((row) => row.what)).toEqual([
      "ingest",
      "all statistics, p50, p90, p99",
      "p99, kept up to date",
      "a window not asked for before",
    ]);
    expect(rows[0]!.compactBytes).toBeLessThan(rows[0]!.plainBytes as number);
    for (const row of rows) expect(row.compactUs).toBeGreaterThan(0);
  });

  test("live: a percentile after every record is checked", async () => {
    const { rows } = await benchLive(SMALL_LIVE);
    expect(rows).toHaveLength(1);
    for (const name of ["pairNs", "recordNs", "dateNowNs", "incrementNs"]) expect(rows[0]?.[name]).toBeGreaterThan(0);
  });

  test("metrics: every success is counted for yardsticks, installed rivals and oriel", async () => {
    const { rows } = await benchMetrics(SMALL_METRICS);
    const able = METRICS_RIVALS.filter((rival) => !metricsMissing(rival)).map((rival) => rival.name);
    expect(rows.slice(2).map((row) => row.by)).toEqual(able);
    for (const row of rows) for (const name of ["recordNs", "timesIncrement"]) expect(row[name]).toBeGreaterThan(0);
  });

  test("rolling: installed rivals and oriel are checked", async () => {
    const { rows } = await benchRolling(SMALL_ROLLING);
    const able = LIBRARIES.filter((library) => !rollingMissing(library));
    const once = ["js", "wasm-scalar", "wasm-simd"];
    const forms = [...once, ...once];
    expect(rows.map((row) => row.by)).toEqual([...able, ...forms, ...able.filter((by) => by === "pandas"), ...forms]);
    for (const row of rows) expect(row.nanosecondsPerSlide).toBeGreaterThan(0);
  });

  test("blocks: every form gives back each event in fewer bytes than format 1", () => {
    const { rows } = benchBlocks(SMALL_BLOCKS);
    const able = COMPRESSORS.filter((compressor) => !compressor.missing?.()).map(({ name }) => name);
    expect(rows.slice(0, able.length).map((row) => row.by)).toEqual(able);
    for (const row of rows) {
      expect(row.encode).toBeGreaterThan(0);
      if (String(row.by).startsWith("oriel blocks")) expect(row.bytesPerEvent).toBeLessThan(4.5);
    }
  });

  test("sketches: the error of exact values is 0", async () => {
    const { rows } = await benchSketches(SMALL_SKETCHES);
    for (const row of rows) {
      expect(row.recordNs).toBeGreaterThan(0);
      if (String(row.promise).startsWith("exact")) expect(row.errorPercent).toBe(0);
    }
    expect(rows.at(-1)?.by).toBe("oriel LocalSeries");
  });
});
