import { describe, expect, test } from "vitest";
import { StatisticNode } from "../../src/metrics/window/statistic-node.ts";

const T = 1_600_000_000_000;

describe("StatisticNodeTest", () => {
  test("testStatisticThreadNumAndQps: 300 calls by 20 tasks, then 3 s idle", () => {
    let nowMs = T;
    const node = new StatisticNode({ clock: () => nowMs });
    const begun: number[] = [];
    for (let call = 0; call < 300; call++) {
      nowMs += 37;
      if (begun.length === 20) {
        node.decreaseConcurrency();
        node.recordSuccess(nowMs - (begun.shift() as number));
      }
      node.increaseConcurrency();
      node.addAllowed(1);
      begun.push(nowMs);
      expect(node.concurrency).toBe(begun.length);
    }
    expect(node.allowedPerSecond()).toBeGreaterThan(10);
    for (const beganMs of begun) {
      node.decreaseConcurrency();
      node.recordSuccess(nowMs - beganMs);
    }
    nowMs += 3000;
    expect([
      node.concurrency,
      node.allowedPerSecond(),
      node.second.successesPerSecond(),
      node.second.minLatencyMs(),
    ]).toEqual([0, 0, 0, 5000]);
    expect([node.totalRequest(), node.minute.success()]).toEqual([300, 300]);
  });

  test("testStatisticLongAdder: 100 tasks of 100 000 up or down", async () => {
    const node = new StatisticNode({ clock: () => T });
    await Promise.all(
      Array.from({ length: 100 }, async (_, task) => {
        for (let i = 0; i < 100_000; i++) task % 2 ? node.decreaseConcurrency() : node.increaseConcurrency();
      }),
    );
    expect(node.concurrency).toBe(0);
  });
});

test("rates are correct, and each complete second is returned once", () => {
  let nowMs = T;
  const node = new StatisticNode({ clock: () => nowMs });
  node.addAllowed(2);
  node.addDenied(1);
  node.addFailure(1);
  node.recordSuccess(40);
  expect([
    node.allowedPerSecond(),
    node.maxSuccessesPerSecond(),
    node.totalRequest(),
    node.previousAllowedPerSecond(),
  ]).toEqual([2, 2, 3, 0]);
  expect(node.newSeconds()).toEqual([]);
  nowMs += 1000;
  expect(node.previousAllowedPerSecond()).toBe(2);
  nowMs += 4000;
  node.addAllowed(1);
  expect(node.newSeconds()).toMatchObject([{ startMs: T, allowed: 2, denied: 1, failure: 1, meanLatencyMs: 40 }]);
  expect(node.newSeconds()).toEqual([]);
  nowMs += 1000;
  expect(node.newSeconds().map((second) => second.startMs)).toEqual([T + 5000]);
});

describe("tryOccupyNext", () => {
  const open = (passes: [atMs: number, count: number][], atMs: number, occupyTimeoutMs = 500) => {
    let nowMs = T;
    const node = new StatisticNode({ clock: () => nowMs, occupyTimeout: occupyTimeoutMs });
    for (const [passedMs, count] of passes) {
      nowMs = T + passedMs;
      node.addAllowed(count);
    }
    nowMs = T + atMs;
    return node;
  };

  test("returns the wait until the oldest bucket leaves, if that makes room", () => {
    expect(open([[0, 10]], 700).tryOccupyNext(1, 10)).toBe(300);
    expect(
      open(
        [
          [0, 4],
          [600, 6],
        ],
        700,
      ).tryOccupyNext(4, 10),
    ).toBe(300);
    expect(
      open(
        [
          [0, 4],
          [600, 6],
        ],
        700,
      ).tryOccupyNext(5, 10),
    ).toBe(Number.POSITIVE_INFINITY);
    expect(
      open(
        [
          [0, 4],
          [600, 6],
        ],
        700,
        1000,
      ).tryOccupyNext(5, 10),
    ).toBe(800);
    expect(open([[0, 10]], 1).tryOccupyNext(1, 10)).toBe(Number.POSITIVE_INFINITY);
  });

  test("counts waiting passes, up to the threshold", () => {
    const node = open([[0, 10]], 700);
    for (let i = 0; i < 10; i++) {
      const waitMs = node.tryOccupyNext(1, 10);
      expect(waitMs).toBe(300);
      node.occupy(1, waitMs);
    }
    expect(node.second.waiting()).toBe(10);
    expect(node.tryOccupyNext(1, 10)).toBe(Number.POSITIVE_INFINITY);
    expect([node.minute.allowed(), node.minute.borrowed(), node.second.allowed()]).toEqual([20, 10, 10]);
  });
});

test("wrong options are refused", () => {
  expect(() => new StatisticNode({ occupyTimeout: -1 })).toThrow("occupyTimeout is -1");
  expect(() => new StatisticNode({ sampleCount: 3 })).toThrow("interval is 1000");
  expect(() => new StatisticNode({ window: 1 } as never)).toThrow('option is "window"');
});
