import { describe, expect, test } from "vitest";
import { LeapArray } from "../../src/metrics/window/leap-array.ts";
import { MetricBucket } from "../../src/metrics/window/metric-bucket.ts";

const T = 1_577_017_699_235;
const buckets = () => new MetricBucket();

describe("document 5's worked values", () => {
  const ring = new LeapArray(60, 60_000, buckets);

  test("60 buckets of 1 s: index and start", () => {
    expect(ring.indexOf(T)).toBe(19);
    expect(ring.currentWindow(T)?.startMs).toBe(1_577_017_699_000);
  });

  test("the previous bucket is the adjacent one, not one from a whole cycle ago", () => {
    const at = 1_595_974_702_000;
    expect(ring.currentWindow(at - 61_000)?.startMs).toBe(1_595_974_641_000);
    expect(ring.previousWindow(at)).toBeNull();
    const previous = ring.currentWindow(at - 1000);
    expect(previous?.startMs).toBe(1_595_974_701_000);
    expect(ring.previousWindow(at)).toBe(previous);
  });
});

test("LeapArrayTest.testGetValidHead", () => {
  let nowMs = T;
  const ring = new LeapArray(10, 1000, () => [0], { clock: () => nowMs });
  const first = ring.currentWindow();
  nowMs += 100;
  const second = ring.currentWindow();
  for (let i = 0; i < 8; i++) {
    nowMs += 100;
    ring.currentWindow();
  }
  expect(ring.validHead()).toBe(first);
  nowMs += 100;
  expect(ring.validHead()).toBe(second);
});

describe("BucketLeapArrayTest (2 x 1000 ms)", () => {
  const lengthMs = 1000;
  const open = () => new LeapArray(2, 2000, buckets, { clock: () => T });

  test("testNewWindow, testLeapArrayWindowStart", () => {
    const wrap = open().currentWindow(T);
    expect(wrap?.lengthMs).toBe(lengthMs);
    expect(wrap?.startMs).toBe(T - (T % lengthMs));
    expect(wrap?.value.allowed).toBe(0);
  });

  test("testWindowAfterOneInterval", () => {
    const ring = open();
    const startMs = T - (T % lengthMs);
    const bucket = ring.currentWindow(startMs)?.value as MetricBucket;
    bucket.addAllowed(1).addDenied(1);
    expect([bucket.allowed, bucket.denied]).toEqual([1, 1]);
    const middle = ring.currentWindow(startMs + lengthMs / 2);
    expect(middle?.startMs).toBe(startMs);
    expect(middle?.value).toBe(bucket);
    middle?.value.addAllowed(1);
    expect([bucket.allowed, bucket.denied]).toEqual([2, 1]);
    const next = ring.currentWindow(startMs + lengthMs);
    expect(next?.startMs).toBe(startMs + lengthMs);
    expect([next?.value.allowed, next?.value.denied]).toEqual([0, 0]);
  });

  test("testMultiThreadUpdateEmptyWindow: 16 tasks on an empty slot", async () => {
    const ring = open();
    await Promise.all(Array.from({ length: 16 }, async () => ring.currentWindow(T)?.value.addAllowed(1)));
    expect(ring.currentWindow(T)?.value.allowed).toBe(16);
  });

  test("testGetPreviousWindow", () => {
    const ring = open();
    const wrap = ring.currentWindow(T);
    expect(ring.previousWindow(T)).toBeNull();
    expect(ring.previousWindow(T + lengthMs)).toBe(wrap);
    expect(ring.previousWindow(T + 11 * lengthMs)).toBeNull();
  });

  test("testWindowDeprecatedRefresh, never run upstream: a slot's wrap and value are used again, not made anew", () => {
    const ring = open();
    const first = [0, 1].map((i) => ring.currentWindow(T + lengthMs * i));
    for (const wrap of first) wrap?.value.addAllowed(1);
    const second = [2, 3].map((i) => ring.currentWindow(T + lengthMs * i));
    expect(second[0]).toBe(first[0]);
    expect(second[1]).toBe(first[1]);
    expect(second.map((wrap) => wrap?.value.allowed)).toEqual([0, 0]);
  });

  test.each([1100, 1300])(
    "testListWindowsResetOld, testListWindowsNewBucket: after %i ms one bucket counts",
    (pauseMs) => {
      let nowMs = T;
      const ring = new LeapArray(10, 1000, buckets, { clock: () => nowMs });
      const wraps = [ring.currentWindow(T), ring.currentWindow(T + 100)];
      expect(ring.list()).toEqual(wraps);
      nowMs += pauseMs + 100;
      ring.currentWindow()?.value.addAllowed(1);
      expect(ring.list()).toHaveLength(1);
      expect(ring.values().map((bucket) => bucket.allowed)).toEqual([1]);
      expect(ring.listAll().length).toBeGreaterThan(1);
    },
  );
});

describe("sentinel-golang core/stat/base (20 x 500 ms)", () => {
  const at = 1_576_296_044_907;
  const open = () => new LeapArray(20, 10_000, buckets);

  test("Test_leapArray_calculateTimeIdx, _BucketStartCheck, _currentBucketWithTime", () => {
    const ring = open();
    expect(ring.indexOf(at)).toBe(9);
    const wrap = ring.currentWindow(at);
    expect(wrap?.startMs).toBe(1_576_296_044_500);
    expect(ring.listAll()).toEqual([wrap]);
    expect(open().currentWindow(1_596_199_310_801)?.startMs).toBe(1_596_199_310_500);
  });

  test("Test_leapArray_valuesWithTime, _isBucketDeprecated", () => {
    const ring = open();
    const wraps = Array.from({ length: 20 }, (_, i) => ring.currentWindow(1_576_296_040_000 + 500 * i));
    const values = ring.values(1_576_296_049_907);
    expect(values).toHaveLength(20);
    expect(values.filter((value) => !wraps.some((wrap) => wrap?.value === value))).toEqual([]);
    const old = ring.currentWindow(at - 40_000);
    expect(old && ring.isWindowDeprecated(old, at)).toBe(true);
  });

  test("Test_UpdateBucket_Concurrent: 3 000 updates, exact totals", async () => {
    const ring = open();
    const beginMs = 1_976_296_040_000;
    const update = (timeMs: number) =>
      ring.currentWindow(timeMs)?.value.addSuccess(1).addAllowed(1).addDenied(1).addFailure(1).addLatency(10);
    for (let t = beginMs; t < beginMs + 10_000; t += 500) update(t);
    for (const { success, allowed, denied, failure, latencySumMs } of ring.values(beginMs + 9500))
      expect([success, allowed, denied, failure, latencySumMs]).toEqual([1, 1, 1, 1, 10]);
    await Promise.all(Array.from({ length: 2980 }, async (_, i) => update(beginMs + ((i * 7919) % 10_000))));
    const totals = [0, 0, 0, 0, 0];
    for (const { success, allowed, denied, failure, latencySumMs } of ring.values(beginMs + 9999))
      for (const [i, n] of [success, allowed, denied, failure, latencySumMs].entries())
        totals[i] = (totals[i] as number) + n;
    expect(totals).toEqual([3000, 3000, 3000, 3000, 30_000]);
  });

  test("TestBucketLeapArray_resetBucketTo", () => {
    const ring = open();
    const wrap = ring.currentWindow(at);
    wrap?.value.addAllowed(100).addDenied(100);
    expect(ring.currentWindow(at + 10_000)).toBe(wrap);
    expect([wrap?.value.allowed, wrap?.value.denied]).toEqual([0, 0]);
  });
});
