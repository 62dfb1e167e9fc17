import { describe, expect, test } from "vitest";
import { OccupiableLeapArray } from "../../src/metrics/window/leap-array.ts";
import { MetricWindow } from "../../src/metrics/window/metric-window.ts";
import { sum } from "./oracle.ts";

const T = 1_577_017_699_235;
const lengthMs = 200;

/** The array of buckets with its borrowed passes, and the window in typed arrays: one law. */
const SHAPES = {
  OccupiableLeapArray(clock: () => number) {
    const ring = new OccupiableLeapArray(10, 2000, { clock });
    return {
      addAllowed: (timeMs: number) => ring.currentWindow(timeMs)?.value.addAllowed(1),
      touch: (timeMs: number) => ring.currentWindow(timeMs),
      addWaiting: (timeMs: number, count: number) => ring.addWaiting(timeMs, count),
      waiting: () => ring.currentWaiting(),
      passes: (timeMs: number) => ring.values(timeMs).map((bucket) => bucket.allowed),
      passAt: (timeMs: number) => ring.windowValue(timeMs)?.allowed,
    };
  },
  MetricWindow(clock: () => number) {
    const metric = new MetricWindow({ sampleCount: 10, interval: 2000, mode: "sentinel", clock });
    return {
      addAllowed: (timeMs: number) => metric.addAllowed(1, timeMs),
      touch: (timeMs: number) => metric.allowed(timeMs),
      addWaiting: (timeMs: number, count: number) => metric.addWaiting(timeMs, count),
      waiting: () => metric.waiting(),
      passes: (timeMs: number) => metric.details(undefined, timeMs).map((bucket) => bucket.allowed),
      passAt: (timeMs: number) => metric.bucketAllowed(timeMs),
    };
  },
};

describe.each(Object.keys(SHAPES) as (keyof typeof SHAPES)[])(
  "OccupiableBucketLeapArrayTest (10 x 200 ms): %s",
  (name) => {
    const open = () => SHAPES[name](() => T);

    test("testNewWindow", () => {
      const array = open();
      array.addAllowed(T);
      array.addWaiting(T + lengthMs, 1);
      expect([array.waiting(), array.passAt(T)]).toEqual([1, 1]);
    });

    test("testWindowInOneInterval", () => {
      const array = open();
      array.addAllowed(T);
      array.addWaiting(T + lengthMs, 2);
      expect([array.waiting(), array.passAt(T)]).toEqual([2, 1]);
      array.touch(T + lengthMs);
      expect(array.passes(T + lengthMs)).toHaveLength(2);
      expect(sum(array.passes(T + lengthMs))).toBe(3);
    });

    test("testMultiThreadUpdateEmptyWindow: 16 tasks", async () => {
      const array = open();
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          array.addAllowed(T);
          array.addWaiting(T + lengthMs, 1);
        }),
      );
      expect([array.passAt(T), array.waiting()]).toEqual([16, 16]);
      array.touch(T + lengthMs);
      expect(array.passes(T + lengthMs)).toHaveLength(2);
      expect(sum(array.passes(T + lengthMs))).toBe(32);
    });
  },
);

test("testWindowAfterOneInterval", () => {
  const ring = new OccupiableLeapArray(10, 2000, { clock: () => T });
  for (let i = 0; i < 10; i++) {
    ring.currentWindow(T + i * lengthMs)?.value.addAllowed(1);
    ring.addWaiting(T + (i + 1) * lengthMs, 1);
  }
  const values = ring.values(T - (T % lengthMs) + 2000);
  expect(values).toHaveLength(10);
  expect(sum(values.map((bucket) => bucket.allowed))).toBe(19);
  expect(ring.currentWaiting()).toBe(10);
});

describe("MetricWindow with booked passes", () => {
  test("each bucket begins with its booked passes as time passes", () => {
    let nowMs = T;
    const metric = new MetricWindow({ sampleCount: 10, interval: 2000, clock: () => nowMs });
    for (let i = 0; i < 10; i++) {
      nowMs = T + i * lengthMs;
      metric.addAllowed(1);
      metric.addWaiting(nowMs + lengthMs, 1);
      expect(metric.waiting()).toBe(1);
    }
    expect(metric.allowed()).toBe(19);
  });

  test("booked passes count even if no call is made during their bucket", () => {
    let nowMs = T;
    const metric = new MetricWindow({ sampleCount: 10, interval: 2000, clock: () => nowMs });
    metric.addWaiting(T + lengthMs, 3);
    nowMs += 3 * lengthMs;
    expect([metric.allowed(), metric.bucketAllowed(T + lengthMs), metric.waiting()]).toEqual([3, 3, 0]);
    nowMs += 2000;
    expect(metric.allowed()).toBe(0);
  });

  test("passes that cannot be booked count as late", () => {
    const metric = new MetricWindow({ sampleCount: 2, interval: 1000, clock: () => T });
    metric.addWaiting(T + 500, 1);
    metric.addWaiting(T + 1500, 1);
    metric.addWaiting(-1, 1);
    expect([metric.waiting(), metric.lateCount]).toEqual([1, 2]);
  });

  test("the smallest latency of a bucket with booked passes is its own", () => {
    let nowMs = T;
    const metric = new MetricWindow({ sampleCount: 2, interval: 1000, clock: () => nowMs });
    metric.addLatency(3);
    metric.addWaiting(T + 1000, 2);
    nowMs += 1000;
    metric.addLatency(9);
    expect([metric.minLatencyMs(), metric.maxLatencyMs(), metric.allowed()]).toEqual([9, 9, 2]);
  });
});
