import { describe, expect, test } from "vitest";
import { MetricBucket } from "../../src/metrics/metric-bucket.ts";
import { MetricWindow } from "../../src/metrics/metric-window.ts";

const T = 1_600_000_000_000;

describe("ArrayMetricTest", () => {
  test("testOperateArrayMetric", () => {
    const metric = new MetricWindow({ sampleCount: 2, intervalMs: 1000, mode: "sentinel", clock: () => T });
    metric.addRt(21);
    for (let i = 0; i < 9; i++) metric.addPass(1);
    for (let i = 0; i < 2; i++) metric.addBlock(1);
    for (let i = 0; i < 9; i++) metric.addSuccess(1);
    for (let i = 0; i < 6; i++) metric.addException(1);
    const { pass, block, success, exception } = metric.details()[0]!;
    expect([metric.pass(), metric.block(), metric.success(), metric.exception(), metric.rt()]).toEqual([
      9, 2, 9, 6, 21,
    ]);
    expect([pass, block, success, exception]).toEqual([9, 2, 9, 6]);
    expect([metric.avgRt(), metric.minRt(), metric.maxRt(), metric.maxSuccess()]).toEqual([21 / 9, 21, 21, 9]);
  });

  test("testGetMetricDetailsOnCondition", () => {
    const metric = new MetricWindow({ sampleCount: 4, intervalMs: 2000, mode: "sentinel", clock: () => 2000 });
    for (const pass of [1, 2, 3, 4]) metric.addPass(pass, 500 * pass);
    const passes = (isWanted?: (startMs: number) => boolean) => metric.details(isWanted).map((bucket) => bucket.pass);
    expect(passes()).toEqual([1, 2, 3, 4]);
    expect(passes((startMs) => startMs >= 1500)).toEqual([3, 4]);
    expect(passes((startMs) => startMs >= 2500)).toEqual([]);
  });

  test("an exact-interval read through it, which upstream never tests: the slot has turned, the oldest is gone", () => {
    const metric = new MetricWindow({ sampleCount: 2, intervalMs: 1000, mode: "sentinel" });
    metric.addPass(3, T);
    expect(metric.pass(T + 999)).toBe(3);
    expect(metric.pass(T + 1000)).toBe(0);
  });
});

describe("sentinel-golang core/stat/base", () => {
  const at = 1_578_416_556_900;
  const view = (sampleCount: number, intervalMs: number, parent: [number, number]) =>
    new MetricWindow({ sampleCount: parent[0], intervalMs: parent[1] }).view({ sampleCount, intervalMs });
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
    expect(() => view(0, 0, [20, 10_000])).toThrow("sampleCount is 0");
    expect(() => view(4, 2001, [20, 10_000])).toThrow("intervalMs is 2001");
    expect(() => view(2, 2002, [20, 10_000])).toThrow(
      "sampleCount is 2; it must be for buckets of a multiple of 500 ms",
    );
    expect(() => view(4, 200_000, [20, 10_000])).toThrow("intervalMs is 200000; it must be at most 10000 ms");
  });

  test("TestGetMaxOfSingleBucket, TestSecondMetricsOnCondition, TestMinRt_Default, TestAvgRT", () => {
    const metric = new MetricWindow({ sampleCount: 20, intervalMs: 10_000, mode: "sentinel", clock: () => at });
    const small = metric.view({ sampleCount: 4, intervalMs: 2000 });
    expect([metric.minRt(), small.minRt(), small.avgRt(), small.passQps(), small.previous()?.pass ?? 0]).toEqual([
      5000, 5000, 0, 0, 0,
    ]);
    metric.addPass(100);
    expect(small.maxPass()).toBe(100);
    const [firstMs, lastMs] = small.startRange(at);
    expect(small.details((startMs) => startMs >= firstMs && startMs <= lastMs)).toHaveLength(1);
    metric.addRt(100);
    metric.addSuccess(100);
    expect([small.minRt(), small.avgRt()]).toEqual([100, 1]);
  });

  test("TestSlidingWindowMetric_GetIntervalSumWithTime: what is ahead of the view does not count", () => {
    const metric = new MetricWindow({ sampleCount: 20, intervalMs: 10_000 });
    for (let i = 0; i < 500; i++) metric.addPass(1, at + 1000 + i);
    for (let i = 0; i < 2000; i++) metric.addPass(1, at);
    expect(metric.view({ sampleCount: 2, intervalMs: 2000 }).pass(at)).toBe(2000);
  });
});

describe("rates, averages, extremes", () => {
  let nowMs = T;
  const metric = new MetricWindow({ sampleCount: 60, intervalMs: 60_000, clock: () => nowMs });

  test("an empty window", () => {
    expect([metric.success(), metric.successQps(), metric.exceptionQps(), metric.maxSuccess()]).toEqual([0, 0, 0, 0]);
    expect([metric.avgRt(), metric.minRt(), metric.maxRt()]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect([metric.details(), metric.previous()]).toEqual([[], undefined]);
  });

  test("as the design shows them", () => {
    metric.addSuccess(1);
    metric.addRt(12);
    metric.addException(1);
    expect([metric.successQps(), metric.exceptionQps(), metric.avgRt(), metric.minRt()]).toEqual([
      1 / 60,
      1 / 60,
      12,
      12,
    ]);
    metric.recordSuccess(0.25);
    metric.recordSuccess(30_000);
    expect([metric.success(), metric.rt(), metric.minRt(), metric.maxRt()]).toEqual([3, 30_012.25, 0.25, 30_000]);
    const smaller = metric.view({ sampleCount: 1, intervalMs: 1000 });
    expect([smaller.successQps(), smaller.exceptionQps(), smaller.blockQps(), smaller.passQps()]).toEqual([3, 1, 0, 0]);
    expect(metric.details()).toEqual([
      {
        startMs: T,
        success: 3,
        exception: 1,
        pass: 0,
        block: 0,
        occupiedPass: 0,
        avgRt: 30_012.25 / 3,
        minRt: 0.25,
        maxRt: 30_000,
      },
    ]);
  });

  test("the previous bucket, and the buckets since an instant", () => {
    nowMs += 1000;
    metric.addPass(4);
    expect(metric.previous()).toMatchObject({ startMs: T, success: 3 });
    nowMs += 1000;
    expect(metric.previous()).toMatchObject({ startMs: T + 1000, pass: 4 });
    expect(metric.windowsSince(T + 999).map((bucket) => bucket.startMs)).toEqual([T, T + 1000]);
    expect(metric.windowsSince(T + 1000).map((bucket) => bucket.startMs)).toEqual([T + 1000]);
    expect(metric.windowPass(T + 1999)).toBe(4);
    nowMs += 1000;
    expect(metric.previous()).toBeUndefined();
    expect([metric.windowPass(nowMs), metric.windowPass(T + 61_000)]).toEqual([0, 0]);
  });
});

test("a time earlier than its slot is late: counted as such, and nowhere else", () => {
  const metric = new MetricWindow({ sampleCount: 10, intervalMs: 1000, percentiles: true, clock: () => T });
  metric.recordSuccess(5, T);
  metric.recordSuccess(7, T - 1000);
  metric.addBlock(1, -1);
  expect(metric.lateCount).toBe(2);
  expect([metric.success(T - 1000), metric.success(T), metric.block(T), metric.maxRt(T)]).toEqual([0, 1, 0, 5]);
  expect(metric.rtPercentile(100)).toBe(5);
});

test("sentinel's and oriel's answers where they differ by intent", () => {
  const [exact, sentinel] = (["exact", "sentinel"] as const).map(
    (mode) => new MetricWindow({ sampleCount: 2, intervalMs: 1000, mode, clock: () => T }),
  ) as [MetricWindow, MetricWindow];
  for (const metric of [exact, sentinel]) metric.addRt(8000);
  expect([exact.minRt(), sentinel.minRt()]).toEqual([8000, 5000]);
  for (const metric of [exact, sentinel]) metric.addRt(0.5);
  expect([exact.minRt(), sentinel.minRt()]).toEqual([0.5, 1]);
  expect([exact.maxSuccess(), sentinel.maxSuccess()]).toEqual([0, 1]);
  expect([exact.avgRt(), sentinel.avgRt()]).toEqual([Number.NaN, 0]);
  for (const metric of [exact, sentinel]) metric.addPass(1, T + 700);
  expect([exact.pass(T), sentinel.pass(T)]).toEqual([0, 1]);
});

test("a bucket without RTs has a sum of 0 and no extremes", () => {
  const bucket = new MetricBucket();
  expect([bucket.success, bucket.rt, bucket.minRt, bucket.maxRt]).toEqual([0, 0, Number.NaN, Number.NaN]);
  bucket.addRt(3).addRt(4).addOccupiedPass().addPass(2);
  expect([bucket.rt, bucket.minRt, bucket.maxRt, bucket.occupiedPass, bucket.pass]).toEqual([7, 3, 4, 1, 2]);
  expect([bucket.reset().rt, bucket.minRt, bucket.pass]).toEqual([0, Number.NaN, 0]);
});

test("wrong arguments name argument, value and bound, and change nothing", () => {
  const open = (options: unknown) => () => new MetricWindow(options as never);
  expect(open({ sampleCount: 0, intervalMs: 1000 })).toThrow("sampleCount is 0");
  expect(open({ sampleCount: 7, intervalMs: 1000 })).toThrow("intervalMs is 1000");
  expect(open({ sampleCount: 1, intervalMs: 1000, mode: "future" })).toThrow('mode is "future"; it must be "exact" or');
  expect(open({ sampleCount: 1, intervalMs: 1000, clock: 1 })).toThrow("clock is 1");
  expect(open({ sampleCount: 1, intervalMs: 1000, percentiles: 99 })).toThrow("percentiles is 99");
  expect(open({ sampleCount: 1, intervalMs: 1000, percentiles: { p: 99 } })).toThrow('option is "p"');
  expect(open({ sampleCount: 1, intervalMs: 1000, buckets: 2 })).toThrow('option is "buckets"');
  const metric = new MetricWindow({ sampleCount: 2, intervalMs: 1000, clock: () => T });
  for (const count of [-1, 0.5, Number.NaN, Infinity, "1"])
    expect(() => metric.addSuccess(count as number)).toThrow("it must be a whole number of events, 0 or more");
  for (const rtMs of [-1, Number.NaN, Infinity])
    expect(() => metric.recordSuccess(rtMs)).toThrow(`rtMs is ${rtMs}; it must be a response time in ms`);
  expect(() => metric.addSuccess(1, Number.NaN)).toThrow("timeMs is NaN");
  expect(() => metric.pass(Infinity)).toThrow("timeMs is Infinity");
  expect(() => metric.rtPercentile(99)).toThrow("percentiles is undefined; it must be true");
  expect(() => metric.details(5 as never)).toThrow("isWanted is 5");
  expect(() => metric.addWaiting(T, -1)).toThrow("count is -1");
  expect([metric.success(), metric.rt(), metric.lateCount]).toEqual([0, 0, 0]);
});
