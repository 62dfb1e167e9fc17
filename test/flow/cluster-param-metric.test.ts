import fc from "fast-check";
import { expect, test } from "vitest";
import { ClusterParamMetric } from "../../src/metrics/flow/cluster-param-metric.ts";

const T = 1_600_000_000_000;
const metricAt = (clock: () => number, maxValues = 100) =>
  new ClusterParamMetric<string>({ sampleCount: 5, interval: 25, clock, maxValues });

test("ClusterParamMetricTest.testClusterParamMetric", () => {
  const metric = metricAt(() => T);
  for (const count of [-1, -2]) metric.add("e1", count);
  for (const count of [100, 23, 123]) metric.add("e2", count);
  for (const count of [-1, 98, 233]) metric.add("e3", count);
  expect([metric.sum("e1"), metric.avg("e1")]).toEqual([-3, -120]);
  expect([metric.sum("e2"), metric.avg("e2")]).toEqual([246, 9840]);
  expect([...metric.top(1)]).toEqual([["e3", 13_200]]);
  expect([...metric.top(5)]).toEqual([
    ["e3", 13_200],
    ["e2", 9840],
    ["e1", -120],
  ]);
  expect(metric.sum("none")).toBe(0);
});

test("ClusterParamMetricTest.testIllegalArgument", () => {
  const metric = metricAt(() => T);
  expect(() => metric.top(-1)).toThrow("limit is -1");
  expect(() => metric.add("a", Number.NaN)).toThrow("count is NaN");
  expect(() => metricAt(() => T, 0)).toThrow("maxValues is 0");
});

test("sums are those of the live buckets, for any sequence of counts", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(12), fc.constantFrom("a", "b", "c"), fc.integer({ min: -5, max: 5 })), {
        maxLength: 60,
      }),
      (steps) => {
        let nowMs = T;
        const metric = metricAt(() => nowMs);
        const counted: { startMs: number; value: string; count: number }[] = [];
        for (const [goneMs, value, count] of steps) {
          nowMs += goneMs;
          metric.add(value, count);
          counted.push({ startMs: nowMs - (nowMs % 5), value, count });
        }
        // The bucket that is just 25 ms old has given its slot to the present one.
        const inside = counted.filter(({ startMs }) => startMs > nowMs - (nowMs % 5) - 25);
        for (const value of ["a", "b", "c"])
          expect(metric.sum(value)).toBe(
            inside.filter((each) => each.value === value).reduce((sum, { count }) => sum + count, 0),
          );
      },
    ),
  );
});

test("above the bound of a bucket, the least recently counted values are evicted", () => {
  const metric = metricAt(() => T, 2);
  for (const value of ["a", "b", "a", "c"]) metric.add(value);
  expect([metric.sum("a"), metric.sum("b"), metric.sum("c")]).toEqual([2, 0, 1]);
});
