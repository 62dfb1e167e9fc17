import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PercentileMethod } from "../../src/engine/kernel/percentile/percentile.ts";
import { MetricWindow } from "../../src/entries/index.ts";
import { percentileByHand } from "../stats/oracle.ts";
import { MetricLog } from "./oracle.ts";
import { scenario } from "./scenario.ts";

const seed = Number(process.env.ORIEL_SEED ?? Date.now() % 1_000_000);
const T = 1_600_000_000_000;
const METHODS: PercentileMethod[] = ["linear", "nearest", "inverted_cdf"];

describe.each(["exact", "sentinel"] as const)(`percentiles on random traces, mode %s (seed ${seed})`, (mode) => {
  test("equal those of the latencies that count, for any steps of the clock", () => {
    fc.assert(
      fc.property(scenario, fc.constantFrom(...METHODS), ({ sampleCount, lengthMs, beginMs, steps }, method) => {
        const intervalMs = sampleCount * lengthMs;
        const log = new MetricLog(lengthMs, intervalMs, mode);
        let nowMs = beginMs;
        let latestMs = Number.NEGATIVE_INFINITY;
        let begunAt = 0;
        const beginAnew = () => {
          latestMs = Number.NEGATIVE_INFINITY;
          begunAt = log.events.length;
        };
        const metric = new MetricWindow({
          sampleCount,
          interval: intervalMs,
          mode,
          percentiles: true,
          clock: () => nowMs,
        });
        for (const { byMs, amount, asks } of steps) {
          nowMs = Math.max(0, nowMs + byMs);
          const startMs = log.startOf(nowMs);
          // A step back by an interval or more is noticed by what is recorded, unless that is late, and by a question.
          const isBack = () => startMs <= latestMs - intervalMs;
          if (isBack() && !log.isErased(startMs)) beginAnew();
          if (!log.isErased(startMs)) latestMs = Math.max(latestMs, startMs);
          log.add("latencySumMs", amount, nowMs);
          metric.recordSuccess(amount);
          if (!asks) continue;
          if (isBack()) beginAnew();
          latestMs = Math.max(latestMs, startMs);
          const live = new Set(log.live(nowMs));
          const kept = log.events
            .slice(begunAt)
            .filter((event) => live.has(event) && event.startMs > latestMs - intervalMs)
            .map((event) => event.amount)
            .sort((a, b) => a - b);
          for (const p of [0, 50, 90, 99, 100]) {
            const answer = metric.latencyPercentileMs(p, { method });
            // By hand the last bit is rounded another way.
            if (kept.length === 0) expect(answer).toBeNaN();
            else expect(answer).toBeCloseTo(percentileByHand(kept, p, method), 12);
          }
        }
      }),
      { seed, numRuns: 400 },
    );
  });
});

describe("percentiles per window", () => {
  let nowMs = T;
  const metric = new MetricWindow({ sampleCount: 60, interval: 60_000, percentiles: true, clock: () => nowMs });
  const lastSecond = metric.view({ sampleCount: 1, interval: 1000 });

  test("cover the buckets that count, also those of a view", () => {
    expect(metric.latencyPercentileMs(99)).toBeNaN();
    for (let i = 1; i <= 100; i++) metric.recordSuccess(i);
    nowMs += 1000;
    metric.recordSuccess(1000.5);
    expect(metric.latencyPercentileMs(50)).toBe(51);
    expect(metric.latencyPercentileMs(100)).toBe(1000.5);
    expect(lastSecond.latencyPercentileMs(0)).toBe(1000.5);
    expect(metric.latencyPercentileMs(50, { method: "inverted_cdf" })).toBe(51);
  });

  test("move by whole buckets, also while nothing is recorded", () => {
    nowMs = T + 59_999;
    expect(metric.latencyPercentileMs(0)).toBe(1);
    nowMs = T + 60_000;
    expect(metric.latencyPercentileMs(0)).toBe(1000.5);
    nowMs += 3_600_000;
    expect(metric.latencyPercentileMs(0)).toBeNaN();
  });

  test("count a given time in its bucket; an interval later it is in none", () => {
    metric.recordSuccess(5);
    metric.recordSuccess(3, nowMs - 2000);
    metric.recordSuccess(1, nowMs - 60_000);
    expect(metric.latencyPercentileMs(0)).toBe(3);
    expect(lastSecond.latencyPercentileMs(0)).toBe(5);
  });

  test("start empty after the clock stepped back by an hour", () => {
    nowMs -= 3_599_000;
    expect(metric.latencyPercentileMs(100)).toBeNaN();
    metric.recordSuccess(8);
    expect(metric.latencyPercentileMs(100)).toBe(8);
  });

  test("start empty after a time that is an hour ahead", () => {
    metric.recordSuccess(7, nowMs + 3_601_000);
    nowMs += 2000;
    metric.recordSuccess(6);
    expect(metric.latencyPercentileMs(100)).toBe(6);
    expect(metric.lateCount).toBe(1);
  });

  test("refuse events that do not fit, without counting them", () => {
    const small = new MetricWindow({
      sampleCount: 1,
      interval: 1000,
      percentiles: { values: "float32", maxBytes: 1400 },
      clock: () => T,
    });
    for (let i = 0; i < 100; i++) small.recordSuccess(i);
    expect(() => small.recordSuccess(100)).toThrow("maxBytes, 1400, has room for 100 events; the series has 100");
    expect([small.success(), small.maxLatencyMs(), small.latencyPercentileMs(100)]).toEqual([100, 99, 99]);
    expect(() => small.latencyPercentileMs(101)).toThrow("101");
    expect(() => small.latencyPercentileMs(50, { span: "1s" } as never)).toThrow('option is "span"');
  });
});
