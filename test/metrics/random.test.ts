import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LeapArray } from "../../src/metrics/window/leap-array.ts";
import { MetricBucket } from "../../src/metrics/window/metric-bucket.ts";
import { MetricWindow } from "../../src/metrics/window/metric-window.ts";
import { type Kind, MetricLog, sum } from "./oracle.ts";
import { KINDS, scenario } from "./scenario.ts";

const seed = Number(process.env.ORIEL_SEED ?? Date.now() % 1_000_000);
const runs = { seed, numRuns: 400 };

/** Sum, least and greatest of the amounts of each kind that count. */
type Answers = Record<Kind, number> & { minLatencyMs: number; maxLatencyMs: number };

function fromLog(log: MetricLog, nowMs: number, spanMs = log.intervalMs): Answers {
  const of = (kind: Kind) => sum(log.amounts(kind, nowMs, spanMs));
  const latencies = log.amounts("latencySumMs", nowMs, spanMs);
  const answers = Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as Record<Kind, number>;
  return {
    ...answers,
    minLatencyMs: latencies.length > 0 ? Math.min(...latencies) : Number.NaN,
    maxLatencyMs: latencies.length > 0 ? Math.max(...latencies) : Number.NaN,
  };
}

/** ArrayMetric as Sentinel has it, on a LeapArray of buckets. */
function fromRing(ring: LeapArray<MetricBucket>, nowMs: number): Answers {
  if (ring.mode === "sentinel") ring.currentWindow(nowMs);
  const values = ring.values(nowMs);
  const of = (kind: Kind) => sum(values.map((bucket) => bucket[kind]));
  const latencies = values.filter((bucket) => !Number.isNaN(bucket.minLatencyMs));
  const answers = Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as Record<Kind, number>;
  return {
    ...answers,
    minLatencyMs: latencies.length > 0 ? Math.min(...latencies.map((bucket) => bucket.minLatencyMs)) : Number.NaN,
    maxLatencyMs: latencies.length > 0 ? Math.max(...latencies.map((bucket) => bucket.maxLatencyMs)) : Number.NaN,
  };
}

function fromWindow(metric: MetricWindow, nowMs: number): Answers {
  const { minLatencyMs, maxLatencyMs } = {
    minLatencyMs: metric.minLatencyMs(nowMs),
    maxLatencyMs: metric.maxLatencyMs(nowMs),
  };
  const answers = Object.fromEntries(KINDS.map((kind) => [kind, metric[kind](nowMs)])) as Record<Kind, number>;
  return { ...answers, minLatencyMs, maxLatencyMs };
}

function addTo(bucket: MetricBucket, kind: Kind, amount: number): void {
  if (kind === "success") bucket.addSuccess(amount);
  else if (kind === "failure") bucket.addFailure(amount);
  else if (kind === "allowed") bucket.addAllowed(amount);
  else if (kind === "denied") bucket.addDenied(amount);
  else bucket.addLatency(amount);
}

function addToWindow(metric: MetricWindow, kind: Kind, amount: number, timeMs: number): void {
  if (kind === "success") metric.addSuccess(amount, timeMs);
  else if (kind === "failure") metric.addFailure(amount, timeMs);
  else if (kind === "allowed") metric.addAllowed(amount, timeMs);
  else if (kind === "denied") metric.addDenied(amount, timeMs);
  else metric.addLatency(amount, timeMs);
}

/** Sentinel has no greatest latency and clamps the least one. */
function asSentinel({ minLatencyMs, maxLatencyMs, ...answers }: Answers): Answers {
  return {
    ...answers,
    minLatencyMs: Number.isNaN(minLatencyMs) ? 5000 : Math.max(1, minLatencyMs),
    maxLatencyMs: Number.isNaN(maxLatencyMs) ? 0 : maxLatencyMs,
  };
}

describe.each(["exact", "sentinel"] as const)(`random traces, mode %s (seed ${seed})`, (mode) => {
  test("LeapArray of buckets and MetricWindow match brute force over the log", () => {
    fc.assert(
      fc.property(scenario, ({ sampleCount, lengthMs, beginMs, steps }) => {
        const intervalMs = sampleCount * lengthMs;
        const log = new MetricLog(lengthMs, intervalMs, mode);
        const ring = new LeapArray(sampleCount, intervalMs, () => new MetricBucket(), { mode });
        let nowMs = beginMs;
        const metric = new MetricWindow({ sampleCount, interval: intervalMs, mode, clock: () => nowMs });
        let lateReads = 0;
        for (const { byMs, kind, amount, asks } of steps) {
          nowMs += byMs;
          log.add(kind, amount, nowMs);
          const bucket = ring.currentWindow(nowMs);
          if (bucket) addTo(bucket.value, kind, amount);
          addToWindow(metric, kind, amount, nowMs);
          if (!asks || nowMs < 0) continue;
          const right = fromLog(log, nowMs);
          const lateBefore = ring.lateCount;
          expect(fromRing(ring, nowMs)).toEqual(right);
          lateReads += ring.lateCount - lateBefore;
          expect(fromWindow(metric, nowMs)).toEqual(mode === "sentinel" ? asSentinel(right) : right);
        }
        expect(metric.lateCount).toBe(log.lateCount);
        // The ring has no word for what comes before 1970, and Sentinel's reads may find a slot that has gone on.
        expect(ring.lateCount - lateReads).toBeLessThanOrEqual(log.lateCount);
      }),
      runs,
    );
  });

  test("a view answers like a window of its own size over the same log", () => {
    fc.assert(
      fc.property(scenario, fc.integer({ min: 1, max: 10 }), ({ sampleCount, lengthMs, beginMs, steps }, share) => {
        const count = Math.min(share, sampleCount);
        const log = new MetricLog(lengthMs, sampleCount * lengthMs, mode);
        let nowMs = beginMs;
        const clock = () => nowMs;
        const metric = new MetricWindow({ sampleCount, interval: sampleCount * lengthMs, mode, clock });
        const view = metric.view({ sampleCount: count, interval: count * lengthMs });
        for (const { byMs, kind, amount } of steps) {
          nowMs += byMs;
          log.add(kind, amount, nowMs);
          addToWindow(metric, kind, amount, nowMs);
          if (nowMs < 0) continue;
          const right = fromLog(log, nowMs, count * lengthMs);
          for (const asked of KINDS) expect(view[asked]()).toBe(right[asked]);
          expect(view.maxLatencyMs()).toBe(mode === "sentinel" ? asSentinel(right).maxLatencyMs : right.maxLatencyMs);
        }
      }),
      runs,
    );
  });
});
