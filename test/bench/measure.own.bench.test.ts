import { describe, expect, test } from "vitest";
import { latencies } from "../../bench/events.ts";
import { Ledger } from "../../bench/ledger.ts";
import { median, percentile, runSlice } from "../../bench/runner/measure.ts";

describe("runSlice", () => {
  test("continues after its time until the minimum of operations is done, then stops waiting callers", async () => {
    let calls = 0;
    const slice = await runSlice({ callers: 3, sliceMs: 0, minOperations: 2 }, async (signal) => {
      const call = calls++;
      if (call < 2) return true;
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
      return false;
    });
    expect(slice.operations).toBe(2);
    expect(slice.latenciesMs).toHaveLength(2);
    expect(slice.refused).toBe(0);
  });

  test("counts calls that did nothing before its time was over", async () => {
    let calls = 0;
    const slice = await runSlice({ callers: 1, sliceMs: 0, minOperations: 1 }, async () => ++calls === 3);
    expect(slice).toMatchObject({ operations: 1, refused: 2 });
  });
});

describe("Ledger", () => {
  const preload = Float32Array.of(1, 2, 3);

  test("accepts counts between the certain events and the sent events", () => {
    const ledger = new Ledger("x", preload);
    ledger.send();
    ledger.send();
    ledger.receive(4, { count: 5 });
    ledger.receive(4, { count: 4 });
    expect(ledger.count).toBe(5);
    expect(() => ledger.receive(4, { count: 6 })).toThrow("x answered count 6; right is 4 to 5");
    expect(() => ledger.receive(4, { count: 3 })).toThrow("count 3");
  });

  test("fails on a missing event, a wrong sum and a wrong percentile", () => {
    const ledger = new Ledger("x", preload);
    ledger.send();
    ledger.receive(4, { count: 4 });
    ledger.verify({ count: 4, sum: 10, p99: 3.97 });
    expect(() => ledger.verify({ count: 3 })).toThrow("x answered count 3; right is 4");
    expect(() => ledger.verify({ count: 4, sum: 10.1, p99: 3.97 })).toThrow("sum 10.1");
    expect(() => ledger.verify({ count: 4, sum: 10, p99: 4 })).toThrow("p99 4");
  });
});

test("percentiles interpolate linearly", () => {
  expect(percentile([4, 1, 3, 2], 50)).toBe(2.5);
  expect(median([3, 1, 2])).toBe(2);
  expect(percentile([], 50)).toBeNaN();
});

test("events are equal for equal seeds, and exact multiples of an eighth", () => {
  const values = latencies(1000, 1);
  expect(values).toEqual(latencies(1000, 1));
  expect(values).not.toEqual(latencies(1000, 2));
  expect(values.every((value) => value >= 0 && value <= 8192 && Number.isInteger(value * 8))).toBe(true);
  expect(median(values)).toBeGreaterThan(15);
  expect(median(values)).toBeLessThan(27);
});
