import { describe, expect, test } from "vitest";
import type { FlowNode } from "../../src/metrics/flow/controller.ts";
import { RejectController } from "../../src/metrics/flow/reject-controller.ts";
import { ThrottlingController } from "../../src/metrics/flow/throttling-controller.ts";
import { WarmUpController, WarmUpThrottlingController } from "../../src/metrics/flow/warm-up.ts";
import { StatisticNode } from "../../src/metrics/window/statistic-node.ts";

const T = 1_600_000_000_000;

/** A node that says what a case needs. */
function nodeOf(says: {
  allowedPerSecond?: number;
  previousAllowedPerSecond?: number;
  concurrency?: number;
}): FlowNode {
  return {
    concurrency: says.concurrency ?? 0,
    allowedPerSecond: () => says.allowedPerSecond ?? 0,
    previousAllowedPerSecond: () => says.previousAllowedPerSecond ?? 0,
    tryOccupyNext: () => Number.POSITIVE_INFINITY,
    occupy: () => undefined,
  };
}

describe("DefaultControllerTest", () => {
  test("testCanPassForQps: threshold 10 passes at 9, blocks at 10", () => {
    const controller = new RejectController({ count: 10 });
    expect(controller.tryPass(nodeOf({ allowedPerSecond: 9 }))).toEqual({ allowed: true, waitMs: 0 });
    expect(controller.tryPass(nodeOf({ allowedPerSecond: 10 }))).toEqual({ allowed: false, waitMs: 0 });
  });

  test("testCanPassForThreadCount: threshold 8 passes at 7, blocks at 8", () => {
    const controller = new RejectController({ count: 8, grade: "concurrency" });
    expect(controller.tryPass(nodeOf({ concurrency: 7 })).allowed).toBe(true);
    expect(controller.tryPass(nodeOf({ concurrency: 8 }), 1, { prioritized: true }).allowed).toBe(false);
  });

  test("testCanPassForQpsMultiThread, empty upstream: 2 000 calls at once, exactly 10 pass", async () => {
    const node = new StatisticNode({ clock: () => T });
    const controller = new RejectController({ count: 10 });
    const call = async () => {
      const { allowed } = controller.tryPass(node);
      if (allowed) node.addAllowed();
      else node.addDenied();
      return allowed;
    };
    const answers = await Promise.all(Array.from({ length: 2000 }, call));
    expect(answers.filter((allowed) => allowed)).toHaveLength(10);
    expect([node.allowedPerSecond(), node.minute.denied()]).toEqual([10, 1990]);
  });

  test("prioritized calls pass at the expense of the next bucket, and count there", () => {
    let nowMs = T;
    const node = new StatisticNode({ clock: () => nowMs });
    const controller = new RejectController({ count: 10 });
    node.addAllowed(10);
    nowMs = T + 700;
    expect(controller.tryPass(node).allowed).toBe(false);
    for (let i = 0; i < 10; i++)
      expect(controller.tryPass(node, 1, { prioritized: true })).toEqual({ allowed: true, waitMs: 300 });
    expect(controller.tryPass(node, 1, { prioritized: true }).allowed).toBe(false);
    nowMs = T + 1000;
    expect(node.allowedPerSecond()).toBe(10);
    expect(controller.tryPass(node).allowed).toBe(false);
    nowMs = T + 2000;
    expect(controller.tryPass(node, 10).allowed).toBe(true);
  });
});

describe("ThrottlingControllerTest", () => {
  test("testThrottlingControllerNormal: 10 a second, 6 calls pass, taking more than 400 ms", () => {
    let nowMs = 5;
    const controller = new ThrottlingController({ count: 10, maxQueueingTime: 500, clock: () => nowMs });
    for (let i = 0; i < 6; i++) {
      const { allowed, waitMs } = controller.tryPass();
      expect(allowed).toBe(true);
      nowMs += waitMs;
    }
    expect(nowMs - 5).toBe(500);
  });

  test("testThrottlingControllerQueueTimeout: 10 calls at once, those beyond 500 ms are blocked", () => {
    const controller = new ThrottlingController({ count: 10, maxQueueingTime: 500, clock: () => 5 });
    const decisions = Array.from({ length: 10 }, () => controller.tryPass());
    expect(decisions.filter(({ allowed }) => allowed).map(({ waitMs }) => waitMs)).toEqual([
      0, 100, 200, 300, 400, 500,
    ]);
    expect(decisions.filter(({ allowed }) => !allowed)).toHaveLength(4);
  });

  test("testThrottlingControllerZeroThreshold: count 0 blocks acquire 1, passes acquire 0", () => {
    const controller = new ThrottlingController({ count: 0, clock: () => 5 });
    for (let i = 0; i < 2; i++) {
      expect(controller.tryPass(undefined, 1).allowed).toBe(false);
      expect(controller.tryPass(undefined, 0).allowed).toBe(true);
    }
  });

  test.each([1000, 8000, 1_000_000, 1000 / 3])("exactly %d calls per second pass", (count) => {
    let nowMs = 1e9;
    const controller = new ThrottlingController({ count, maxQueueingTime: 0, clock: () => nowMs });
    let passed = 0;
    for (let i = 0; i < 10_000; i++) {
      if (controller.tryPass().allowed) passed++;
      nowMs += 250 / count;
    }
    // A call each quarter of a pass's time: every fourth passes, or the fifth where the last bit is missing.
    expect(passed).toBeGreaterThanOrEqual(2000);
    expect(passed).toBeLessThanOrEqual(2500);
  });

  test("a clock steps back by an hour: no call waits longer, and none passes sooner", () => {
    let nowMs = 10_000_000;
    const controller = new ThrottlingController({ count: 10, maxQueueingTime: 500, clock: () => nowMs });
    expect([0, 1, 2].map(() => controller.tryPass().waitMs)).toEqual([0, 100, 200]);
    nowMs -= 3_600_000;
    expect(controller.tryPass()).toEqual({ allowed: true, waitMs: 300 });
    nowMs += 400;
    expect(controller.tryPass()).toEqual({ allowed: true, waitMs: 0 });
  });
});

describe("WarmUpControllerTest", () => {
  test("testWarmUp: cold, 8 QPS blocked, 1 passes; after 10 s at 10, 8 passes and 10 is blocked", () => {
    let nowMs = T;
    const controller = new WarmUpController({ count: 10, warmUpPeriod: 10_000, coldFactor: 3, clock: () => nowMs });
    const passes = (allowedPerSecond: number, previousAllowedPerSecond: number) =>
      controller.tryPass(nodeOf({ allowedPerSecond, previousAllowedPerSecond })).allowed;
    expect(passes(8, 1)).toBe(false);
    expect(passes(1, 1)).toBe(true);
    for (let i = 0; i < 100; i++) {
      nowMs += 100;
      passes(1, 10);
    }
    expect(passes(8, 10)).toBe(true);
    expect(passes(10, 10)).toBe(false);
  });

  /** Calls every `everyMs`; how many pass in each second. */
  function run(count: number, warmUpPeriodMs: number, seconds: number, everyMs = 20): number[] {
    let nowMs = T;
    const clock = () => nowMs;
    const node = new StatisticNode({ clock });
    const controller = new WarmUpController({ count, warmUpPeriod: warmUpPeriodMs, clock });
    const passed = Array.from({ length: seconds }, () => 0);
    for (; nowMs < T + 1000 * seconds; nowMs += everyMs) {
      if (!controller.tryPass(node).allowed) continue;
      node.addAllowed();
      passed[Math.floor((nowMs - T) / 1000)]!++;
    }
    return passed;
  }

  test.each([1, 2, 3, 5])(
    "count %d, period 1 s: it warms up, though Sentinel rejects all or nearly all calls",
    (count) => {
      const passed = run(count, 1000, 20);
      expect(passed[0]).toBe(Math.max(1, Math.floor(count / 3)));
      expect(passed.slice(10)).toEqual(Array(10).fill(count));
    },
  );

  test("a rate of 1 warms up over a period of 20 s, and is cold again after a pause", () => {
    let nowMs = T;
    const clock = () => nowMs;
    const node = new StatisticNode({ clock });
    const controller = new WarmUpController({ count: 1, warmUpPeriod: 20_000, clock });
    const passesIn = (ms: number) => {
      let passes = 0;
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 50) {
        if (!controller.tryPass(node).allowed) continue;
        node.addAllowed();
        passes++;
      }
      return passes;
    };
    expect(passesIn(9000)).toBe(4);
    passesIn(60_000);
    expect(passesIn(10_000)).toBe(10);
    nowMs += 60_000;
    expect(passesIn(9000)).toBe(4);
  });

  test("a rate of 10 warms up over 10 s and stays", () => {
    const passed = run(10, 10_000, 60);
    expect(passed[0]).toBe(3);
    expect(passed.slice(0, 15).every((n, i) => i === 0 || n >= (passed[i - 1] as number))).toBe(true);
    expect(passed.slice(30)).toEqual(Array(30).fill(10));
  });
});

describe("WarmUpRateLimiterControllerTest", () => {
  const busy = nodeOf({ allowedPerSecond: 100, previousAllowedPerSecond: 100 });
  const open = (maxQueueingTimeMs: number, clock: () => number) =>
    new WarmUpThrottlingController({
      count: 10,
      warmUpPeriod: 10_000,
      coldFactor: 3,
      maxQueueingTime: maxQueueingTimeMs,
      clock,
    });

  test("testPace: ten calls are 100 ms apart", () => {
    let nowMs = T;
    const controller = open(1000, () => nowMs);
    expect(controller.tryPass(busy)).toEqual({ allowed: true, waitMs: 0 });
    for (let i = 0; i < 10; i++) {
      const { allowed, waitMs } = controller.tryPass(busy);
      expect([allowed, waitMs]).toEqual([true, 100]);
      nowMs += waitMs;
    }
  });

  test("testPaceCanNotPass: with a queue of 10 ms the second call is blocked", () => {
    const controller = open(10, () => T);
    expect(controller.tryPass(busy).allowed).toBe(true);
    expect(controller.tryPass(busy).allowed).toBe(false);
  });

  test("when cold, calls are three times as far apart", () => {
    const controller = open(1000, () => T);
    expect(controller.tryPass(nodeOf({})).waitMs).toBe(0);
    expect(controller.tryPass(nodeOf({})).waitMs).toBeCloseTo(300, 9);
  });
});

test("wrong arguments name argument, value and bound", () => {
  const bad = {
    "count is -1; it must be a number of passes a second, 0 or more": () => new RejectController({ count: -1 }),
    "count is NaN; it must be a number of calls in progress": () =>
      new RejectController({ count: Number.NaN, grade: "concurrency" }),
    'grade is "threads"': () => new RejectController({ count: 1, grade: "threads" as never }),
    "interval is 0; it must be a duration from 1 ms on": () => new ThrottlingController({ count: 1, interval: 0 }),
    "maxQueueingTime is -1": () => new ThrottlingController({ count: 1, maxQueueingTime: -1 }),
    "count is 0; it must be a number of passes a second, above 0": () =>
      new WarmUpController({ count: 0, warmUpPeriod: 1000 }),
    "coldFactor is 1; it must be a number above 1": () =>
      new WarmUpController({ count: 1, warmUpPeriod: 1000, coldFactor: 1 }),
    "warmUpPeriod is 0": () => new WarmUpThrottlingController({ count: 1, warmUpPeriod: 0 }),
    'option is "grade"': () => new WarmUpController({ count: 1, warmUpPeriod: 1, grade: "rate" } as never),
    "count is 1.5; it must be a whole number of passes": () =>
      new RejectController({ count: 1 }).tryPass(nodeOf({}), 1.5),
    "clock is 1": () => new ThrottlingController({ count: 1, clock: 1 as never }),
  };
  for (const [message, call] of Object.entries(bad)) expect(call).toThrow(message);
});
