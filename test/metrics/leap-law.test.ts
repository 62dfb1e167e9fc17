import { describe, expect, test } from "vitest";
import { LeapArray, WindowWrap } from "../../src/metrics/window/leap-array.ts";
import { MetricBucket } from "../../src/metrics/window/metric-bucket.ts";

const T = 1_600_000_000_000;

describe("cases missing from Sentinel's tests", () => {
  test("a clock steps back: the bucket is detached and counted, and the slot does not change", () => {
    const ring = new LeapArray(10, 1000, () => new MetricBucket());
    ring.currentWindow(T)?.value.addAllowed(5);
    const late = ring.currentWindow(T - 1000);
    expect(late?.startMs).toBe(T - 1000);
    late?.value.addAllowed(7);
    expect(ring.lateCount).toBe(1);
    expect(ring.listAll()).toHaveLength(1);
    expect(ring.currentWindow(T)?.value.allowed).toBe(5);
    expect(ring.currentWindow(T - 500)?.startMs).toBe(T - 500);
    expect(ring.lateCount).toBe(1);
  });

  test("buckets ahead of the clock count in mode sentinel, not in mode exact", () => {
    for (const mode of ["sentinel", "exact"] as const) {
      const ring = new LeapArray(10, 1000, () => new MetricBucket(), { mode });
      ring.currentWindow(T);
      expect(ring.list(T - 300)).toHaveLength(mode === "sentinel" ? 1 : 0);
      expect(ring.list(T)).toHaveLength(1);
    }
  });

  test("a bucket exactly one interval old counts in mode sentinel, not in mode exact", () => {
    for (const mode of ["sentinel", "exact"] as const) {
      const ring = new LeapArray(10, 1000, () => new MetricBucket(), { mode });
      ring.currentWindow(T);
      expect(ring.list(T + 999)).toHaveLength(1);
      expect(ring.list(T + 1000)).toHaveLength(mode === "sentinel" ? 1 : 0);
      expect(ring.list(T + 1001)).toHaveLength(0);
    }
  });

  test.each([1, 2, 10, 10_000])("an idle gap of %i windows: only live buckets count", (gap) => {
    const ring = new LeapArray(10, 1000, () => new MetricBucket(), { mode: "exact" });
    for (let i = 0; i < 10; i++) ring.currentWindow(T + 100 * i)?.value.addAllowed(1);
    const nowMs = T + 900 + 100 * gap;
    expect(ring.values(nowMs)).toHaveLength(Math.max(0, 10 - gap));
    ring.currentWindow(nowMs)?.value.addAllowed(1);
    expect(ring.values(nowMs)).toHaveLength(Math.max(0, 10 - gap) + 1);
  });

  test("one bucket: there is no previous one, and nothing of the last interval remains", () => {
    for (const mode of ["sentinel", "exact"] as const) {
      const ring = new LeapArray(1, 1000, () => new MetricBucket(), { mode });
      ring.currentWindow(T)?.value.addAllowed(1);
      expect(ring.previousWindow(T + 500)).toBeNull();
      expect(ring.currentWindow(T + 1500)?.value.allowed).toBe(0);
      expect(ring.previousWindow(T + 1500)).toBeNull();
      expect(ring.values(T + 1500)).toHaveLength(1);
    }
  });

  test("times before 1970 have no bucket, but the first instant has", () => {
    const ring = new LeapArray(2, 1000, () => new MetricBucket());
    expect([ring.currentWindow(-1), ring.previousWindow(-1), ring.windowValue(-1), ring.validHead(-1)]).toEqual(
      Array(4).fill(null),
    );
    expect(ring.values(-1)).toEqual([]);
    expect([ring.indexOf(-1), ring.startOf(-1)]).toEqual([-1, -500]);
    expect(ring.currentWindow(0)?.startMs).toBe(0);
    expect(ring.previousWindow(0)).toBeNull();
  });

  test("windowValue creates nothing, and answers for its own bucket only", () => {
    const ring = new LeapArray(2, 1000, () => new MetricBucket());
    expect(ring.windowValue(T)).toBeNull();
    expect(ring.listAll()).toEqual([]);
    const value = ring.currentWindow(T)?.value;
    expect(ring.windowValue(T + 499)).toBe(value);
    expect(ring.windowValue(T + 500)).toBeNull();
    expect(ring.windowValue(T + 1000)).toBeNull();
  });

  test("windowsSince lists buckets from that of an instant on, oldest first", () => {
    const ring = new LeapArray(4, 400, () => new MetricBucket(), { mode: "exact" });
    for (const t of [200, 300, 400, 500]) ring.currentWindow(T + t);
    const starts = (sinceMs: number) => ring.windowsSince(T + sinceMs, T + 550).map((wrap) => wrap.startMs - T);
    expect(starts(399)).toEqual([300, 400, 500]);
    expect(starts(0)).toEqual([200, 300, 400, 500]);
    expect(starts(600)).toEqual([]);
  });

  test("values are reset by `reset`, by their own reset(), or replaced", () => {
    const given = new LeapArray(1, 10, () => [1], { reset: (value, startMs) => value.push(startMs) });
    given.currentWindow(0);
    expect(given.currentWindow(10)?.value).toEqual([1, 10]);
    let made = 0;
    const anew = new LeapArray(1, 10, (timeMs) => ({ timeMs, made: ++made }));
    const wrap = anew.currentWindow(5);
    expect(wrap?.value).toEqual({ timeMs: 5, made: 1 });
    expect(anew.currentWindow(15)).toBe(wrap);
    expect(wrap?.value).toEqual({ timeMs: 10, made: 2 });
  });

  test("FutureBucketLeapArrayTest.testFutureMetricLeapArray: an event at t never counts at t", () => {
    const ring = new LeapArray(10, 2000, () => new MetricBucket(), { mode: "future" });
    for (let t = T; t < T + 2000; t += 200) {
      ring.currentWindow(t)?.value.addAllowed(1);
      expect(ring.values(t)).toEqual([]);
      expect(ring.values(T - 1)).toHaveLength((t - T) / 200 + 1);
    }
  });
});

test("WindowWrap is half-open", () => {
  const wrap = new WindowWrap(100, 200, "a");
  expect([199, 200, 299, 300].map((t) => wrap.isTimeInWindow(t))).toEqual([false, true, true, false]);
  expect(wrap.resetTo(300).startMs).toBe(300);
  expect([wrap.value, wrap.lengthMs, wrap.isTimeInWindow(300)]).toEqual(["a", 100, true]);
});

test("wrong arguments name argument, value and bound", () => {
  const bucket = () => new MetricBucket();
  const open =
    (...args: unknown[]) =>
    () =>
      new (LeapArray as unknown as new (...args: unknown[]) => unknown)(...args);
  expect(open(0, 1000, bucket)).toThrow("sampleCount is 0; it must be a whole number of buckets from 1 to 1048576");
  expect(open(1.5, 1000, bucket)).toThrow("sampleCount is 1.5");
  expect(open(3, 1000, bucket)).toThrow(
    "interval is 1000; it must be a whole number of ms that 3 buckets divide evenly",
  );
  expect(open(30, 10_000, bucket)).toThrow("interval is 10000");
  expect(open(1, 0, bucket)).toThrow("interval is 0");
  expect(open(1, 1000, null)).toThrow("newBucket is null");
  expect(open(1, 1000, bucket, { mode: "loose" })).toThrow(
    'mode is "loose"; it must be "sentinel" or "exact" or "future"',
  );
  expect(open(1, 1000, bucket, { clock: 5 })).toThrow("clock is 5");
  expect(open(1, 1000, bucket, { now: Date.now })).toThrow('option is "now"; it must be one of mode, clock, reset');
  const ring = new LeapArray(1, 1000, bucket);
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => ring.currentWindow(time)).toThrow(`timeMs is ${time}; it must be ms since 1970, a finite number`);
  expect(() => ring.list(Number.NaN)).toThrow("timeMs is NaN");
  expect(() => ring.currentWindow(T)?.value.addAllowed(0.5)).toThrow(
    "count is 0.5; it must be a whole number of events",
  );
  expect(() => ring.currentWindow(T)?.value.addLatency(-1)).toThrow(
    "latencyMs is -1; it must be a response time in ms",
  );
});
