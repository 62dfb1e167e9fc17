import { describe, expect, test } from "vitest";
import { MetricBucket } from "../../src/metrics/window/metric-bucket.ts";
import { MetricWindow } from "../../src/metrics/window/metric-window.ts";

const T = 1_600_000_000_000;

describe("ArrayMetricTest", () => {
  test("testOperateArrayMetric", () => {
    const metric = new MetricWindow({ sampleCount: 2, interval: 1000, mode: "sentinel", clock: () => T });
    metric.addLatency(21);
    for (let i = 0; i < 9; i++) metric.addAllowed(1);
    for (let i = 0; i < 2; i++) metric.addDenied(1);
    for (let i = 0; i < 9; i++) metric.addSuccess(1);
    for (let i = 0; i < 6; i++) metric.addFailure(1);
    const { allowed, denied, success, failure } = metric.details()[0]!;
    expect([metric.allowed(), metric.denied(), metric.success(), metric.failure(), metric.latencySumMs()]).toEqual([
      9, 2, 9, 6, 21,
    ]);
    expect([allowed, denied, success, failure]).toEqual([9, 2, 9, 6]);
    expect([metric.meanLatencyMs(), metric.minLatencyMs(), metric.maxLatencyMs(), metric.maxSuccess()]).toEqual([
      21 / 9,
      21,
      21,
      9,
    ]);
  });

  test("testGetMetricDetailsOnCondition", () => {
    const metric = new MetricWindow({ sampleCount: 4, interval: 2000, mode: "sentinel", clock: () => 2000 });
    for (const pass of [1, 2, 3, 4]) metric.addAllowed(pass, 500 * pass);
    const passes = (isWanted?: (startMs: number) => boolean) =>
      metric.details(isWanted).map((bucket) => bucket.allowed);
    expect(passes()).toEqual([1, 2, 3, 4]);
    expect(passes((startMs) => startMs >= 1500)).toEqual([3, 4]);
    expect(passes((startMs) => startMs >= 2500)).toEqual([]);
  });

  test("an exact-interval read, untested upstream: the slot is reused, and the oldest bucket is gone", () => {
    const metric = new MetricWindow({ sampleCount: 2, interval: 1000, mode: "sentinel" });
    metric.addAllowed(3, T);
    expect(metric.allowed(T + 999)).toBe(3);
    expect(metric.allowed(T + 1000)).toBe(0);
  });
});

describe("sentinel-golang core/stat/base", () => {
  const at = 1_578_416_556_900;
  const view = (sampleCount: number, intervalMs: number, parent: [number, number]) =>
    new MetricWindow({ sampleCount: parent[0], interval: parent[1] }).view({ sampleCount, interval: intervalMs });
  const now = at - 6900;

  test.each([
    [4, 2000, [20, 10_000], at, 5000, 6500],
    [2, 1000, [20, 10_000], at, 6000, 6500],
    [2, 1000, [20, 10_000], at - 400, 6000, 6500],
    [1, 2000, [10, 10_000], at, 5000, 6000],
    [1, 10_000, [5, 10_000], at, -2000, 6000],
  ] as const)("getBucketStartRange: %i x %i ms of %j", (count, intervalMs, [parents, parentMs], t, first, last) => {
    expect(view(count, intervalMs, [parents, parentMs]).startRange(t)).toEqual([now + first, now + last]);
  });

  test("Test_NewSlidingWindowMetric", () => {
    expect(view(4, 2000, [20, 10_000]).intervalMs).toBe(2000);
    expect(() => view(0, 1000, [20, 10_000])).toThrow("sampleCount is 0");
    expect(
      new MetricWindow({ sampleCount: 60, interval: "1m" }).view({ sampleCount: 2, interval: "2s" }).intervalMs,
    ).toBe(2000);
    expect(() => view(4, 2001, [20, 10_000])).toThrow("interval is 2001");
    expect(() => view(2, 2002, [20, 10_000])).toThrow(
      "sampleCount is 2; it must be for buckets of a multiple of 500 ms",
    );
    expect(() => view(4, 200_000, [20, 10_000])).toThrow("interval is 200000; it must be at most 10000 ms");
  });

  test("TestGetMaxOfSingleBucket, TestSecondMetricsOnCondition, TestMinRt_Default, TestAvgRT", () => {
    const metric = new MetricWindow({ sampleCount: 20, interval: 10_000, mode: "sentinel", clock: () => at });
    const small = metric.view({ sampleCount: 4, interval: 2000 });
    expect([
      metric.minLatencyMs(),
      small.minLatencyMs(),
      small.meanLatencyMs(),
      small.allowedPerSecond(),
      small.previous()?.allowed ?? 0,
    ]).toEqual([5000, 5000, 0, 0, 0]);
    metric.addAllowed(100);
    expect(small.maxAllowed()).toBe(100);
    const [firstMs, lastMs] = small.startRange(at);
    expect(small.details((startMs) => startMs >= firstMs && startMs <= lastMs)).toHaveLength(1);
    metric.addLatency(100);
    metric.addSuccess(100);
    expect([small.minLatencyMs(), small.meanLatencyMs()]).toEqual([100, 1]);
  });

  test("TestSlidingWindowMetric_GetIntervalSumWithTime: buckets ahead of the view do not count", () => {
    const metric = new MetricWindow({ sampleCount: 20, interval: 10_000 });
    for (let i = 0; i < 500; i++) metric.addAllowed(1, at + 1000 + i);
    for (let i = 0; i < 2000; i++) metric.addAllowed(1, at);
    expect(metric.view({ sampleCount: 2, interval: 2000 }).allowed(at)).toBe(2000);
  });
});

describe("rates, averages, extremes", () => {
  let nowMs = T;
  const metric = new MetricWindow({ sampleCount: 60, interval: 60_000, clock: () => nowMs });

  test("an empty window", () => {
    expect([metric.success(), metric.successesPerSecond(), metric.failuresPerSecond(), metric.maxSuccess()]).toEqual([
      0, 0, 0, 0,
    ]);
    expect([metric.meanLatencyMs(), metric.minLatencyMs(), metric.maxLatencyMs()]).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
    expect([metric.details(), metric.previous()]).toEqual([[], undefined]);
  });

  test("equal the design's example", () => {
    metric.addSuccess(1);
    metric.addLatency(12);
    metric.addFailure(1);
    expect([
      metric.successesPerSecond(),
      metric.failuresPerSecond(),
      metric.meanLatencyMs(),
      metric.minLatencyMs(),
    ]).toEqual([1 / 60, 1 / 60, 12, 12]);
    metric.recordSuccess(0.25);
    metric.recordSuccess(30_000);
    expect([metric.success(), metric.latencySumMs(), metric.minLatencyMs(), metric.maxLatencyMs()]).toEqual([
      3, 30_012.25, 0.25, 30_000,
    ]);
    const smaller = metric.view({ sampleCount: 1, interval: 1000 });
    expect([
      smaller.successesPerSecond(),
      smaller.failuresPerSecond(),
      smaller.deniedPerSecond(),
      smaller.allowedPerSecond(),
    ]).toEqual([3, 1, 0, 0]);
    expect(metric.details()).toEqual([
      {
        startMs: T,
        success: 3,
        failure: 1,
        allowed: 0,
        denied: 0,
        borrowed: 0,
        meanLatencyMs: 30_012.25 / 3,
        minLatencyMs: 0.25,
        maxLatencyMs: 30_000,
      },
    ]);
  });

  test("the previous bucket, and the buckets since an instant", () => {
    nowMs += 1000;
    metric.addAllowed(4);
    expect(metric.previous()).toMatchObject({ startMs: T, success: 3 });
    nowMs += 1000;
    expect(metric.previous()).toMatchObject({ startMs: T + 1000, allowed: 4 });
    expect(metric.windowsSince(T + 999).map((bucket) => bucket.startMs)).toEqual([T, T + 1000]);
    expect(metric.windowsSince(T + 1000).map((bucket) => bucket.startMs)).toEqual([T + 1000]);
    expect(metric.bucketAllowed(T + 1999)).toBe(4);
    nowMs += 1000;
    expect(metric.previous()).toBeUndefined();
    expect([metric.bucketAllowed(nowMs), metric.bucketAllowed(T + 61_000)]).toEqual([0, 0]);
  });
});

test("an event earlier than its slot counts as late only", () => {
  const metric = new MetricWindow({ sampleCount: 10, interval: 1000, percentiles: true, clock: () => T });
  metric.recordSuccess(5, T);
  metric.recordSuccess(7, T - 1000);
  metric.addDenied(1, -1);
  expect(metric.lateCount).toBe(2);
  expect([metric.success(T - 1000), metric.success(T), metric.denied(T), metric.maxLatencyMs(T)]).toEqual([0, 1, 0, 5]);
  expect(metric.latencyPercentileMs(100)).toBe(5);
});

test("sentinel and exact modes differ as documented", () => {
  const [exact, sentinel] = (["exact", "sentinel"] as const).map(
    (mode) => new MetricWindow({ sampleCount: 2, interval: 1000, mode, clock: () => T }),
  ) as [MetricWindow, MetricWindow];
  for (const metric of [exact, sentinel]) metric.addLatency(8000);
  expect([exact.minLatencyMs(), sentinel.minLatencyMs()]).toEqual([8000, 5000]);
  for (const metric of [exact, sentinel]) metric.addLatency(0.5);
  expect([exact.minLatencyMs(), sentinel.minLatencyMs()]).toEqual([0.5, 1]);
  expect([exact.maxSuccess(), sentinel.maxSuccess()]).toEqual([0, 1]);
  expect([exact.meanLatencyMs(), sentinel.meanLatencyMs()]).toEqual([Number.NaN, 0]);
  for (const metric of [exact, sentinel]) metric.addAllowed(1, T + 700);
  expect([exact.allowed(T), sentinel.allowed(T)]).toEqual([0, 1]);
});

test("a bucket without latencies has a sum of 0 and no extremes", () => {
  const bucket = new MetricBucket();
  expect([bucket.success, bucket.latencySumMs, bucket.minLatencyMs, bucket.maxLatencyMs]).toEqual([
    0,
    0,
    Number.NaN,
    Number.NaN,
  ]);
  bucket.addLatency(3).addLatency(4).addBorrowed().addAllowed(2);
  expect([bucket.latencySumMs, bucket.minLatencyMs, bucket.maxLatencyMs, bucket.borrowed, bucket.allowed]).toEqual([
    7, 3, 4, 1, 2,
  ]);
  expect([bucket.reset().latencySumMs, bucket.minLatencyMs, bucket.allowed]).toEqual([0, Number.NaN, 0]);
});

test("wrong arguments name argument, value and bound, and change nothing", () => {
  const open = (options: unknown) => () => new MetricWindow(options as never);
  expect(open({ sampleCount: 0, interval: 1000 })).toThrow("sampleCount is 0");
  expect(open({ sampleCount: 7, interval: 1000 })).toThrow("interval is 1000");
  expect(open({ sampleCount: 1, interval: 1000, mode: "future" })).toThrow('mode is "future"; it must be "exact" or');
  expect(open({ sampleCount: 1, interval: 1000, clock: 1 })).toThrow("clock is 1");
  expect(open({ sampleCount: 1, interval: 1000, percentiles: 99 })).toThrow("percentiles is 99");
  expect(open({ sampleCount: 1, interval: 1000, percentiles: { p: 99 } })).toThrow('option of percentiles is "p"');
  expect(open({ sampleCount: 1, interval: 1000, buckets: 2 })).toThrow('option is "buckets"');
  const metric = new MetricWindow({ sampleCount: 2, interval: 1000, clock: () => T });
  for (const count of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "1"])
    expect(() => metric.addSuccess(count as number)).toThrow("it must be a whole number of events, 0 or more");
  for (const latencyMs of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => metric.recordSuccess(latencyMs)).toThrow(
      `latencyMs is ${latencyMs}; it must be a response time in ms`,
    );
  expect(() => metric.addSuccess(1, Number.NaN)).toThrow("timeMs is NaN");
  expect(() => metric.allowed(Number.POSITIVE_INFINITY)).toThrow("timeMs is Infinity");
  expect(() => metric.latencyPercentileMs(99)).toThrow("percentiles is undefined; it must be true");
  expect(() => metric.details(5 as never)).toThrow("isWanted is 5");
  expect(() => metric.addWaiting(T, -1)).toThrow("count is -1");
  expect([metric.success(), metric.latencySumMs(), metric.lateCount]).toEqual([0, 0, 0]);
});
