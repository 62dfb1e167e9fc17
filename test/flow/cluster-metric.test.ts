import { describe, expect, test } from "vitest";
import { ClusterMetric } from "../../src/metrics/flow/cluster-metric.ts";

const T = 1_600_000_000_000;

test("ClusterMetricTest.testTryOccupyNext", () => {
  const metric = new ClusterMetric({ sampleCount: 5, interval: 25, clock: () => T });
  const add = () => {
    for (const count of [1, 2, 1]) metric.addAllowed(count);
  };
  add();
  metric.addDenied(1);
  expect([metric.allowed(), metric.denied(), metric.allowedPerSecond()]).toEqual([4, 1, 160]);
  expect(metric.tryOccupyNext(111, 900)).toBe(200);
  add();
  expect(metric.tryOccupyNext(222, 900)).toBe(200);
  add();
  expect(metric.tryOccupyNext(333, 900)).toBe(0);
  expect(metric.waiting()).toBe(333);
});

describe("ClusterFlowCheckerTest.testAcquireClusterTokenOccupyPass, disabled upstream", () => {
  test("5 a second in 5 buckets: 5 pass, then block; a prioritized call waits one bucket", () => {
    let nowMs = T;
    const metric = new ClusterMetric({ sampleCount: 5, interval: 1000, clock: () => nowMs });
    const acquire = (prioritized: boolean) => metric.acquire(1, 5, prioritized);
    const passed = { allowed: true, waitMs: 0 };
    const blocked = { allowed: false, waitMs: 0 };
    expect([acquire(false), acquire(false)]).toEqual([passed, passed]);
    nowMs += 200;
    expect(acquire(false)).toEqual(passed);
    nowMs += 200;
    expect([acquire(true), acquire(false), acquire(true)]).toEqual([passed, passed, blocked]);
    nowMs += 200;
    expect([acquire(false), acquire(false)]).toEqual([blocked, blocked]);
    nowMs += 200;
    expect(acquire(false)).toEqual(blocked);
    expect(acquire(true)).toEqual({ allowed: true, waitMs: 200 });
    expect(acquire(false)).toEqual(blocked);
    nowMs += 200;
    expect(acquire(false)).toEqual(passed);
    expect([metric.allowed(), metric.waiting()]).toEqual([5, 0]);
  });

  test("wrong arguments are refused", () => {
    expect(() => new ClusterMetric({ sampleCount: 3, interval: 1000 })).toThrow("interval is 1000");
    const metric = new ClusterMetric({ sampleCount: 1, interval: 1000 });
    expect(() => metric.acquire(-1, 5)).toThrow("count is -1");
    expect(() => metric.acquire(1, Number.NaN)).toThrow("threshold is NaN");
  });
});
