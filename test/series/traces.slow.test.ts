import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LocalSeries } from "../../src/entries/index.ts";
import { inside } from "../stats/oracle.ts";
import { Pair } from "./pair.ts";

describe("random traces", () => {
  const act = fc.record({
    values: fc.array(
      fc.oneof(
        fc.constantFrom(0, -0, 1, 1e9, -1e-9),
        fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
      ),
      { maxLength: 8 },
    ),
    agoMs: fc.option(fc.constantFrom(0, 1, 999, 1000, 2500, 5000, -1, -3000)),
    stepMs: fc.constantFrom(0, 0, 1, 300, 999, 1000, 1001, 4000, 70_000),
    span: fc.constantFrom(1, 2, 999, 1000, 1001, 2500, 4999, 5000),
    closed: fc.constantFrom("right" as const, "both" as const),
  });

  test("a local series, a resident reader and a cold reader match brute force", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { maxLength: 25 }),
        fc.constantFrom("float32" as const, "float64" as const),
        async (acts, values) => {
          const pair = new Pair({ retention: 5000, values });
          for (const { values: put, agoMs, stepMs, span, closed } of acts) {
            await pair.put(put, agoMs === null ? undefined : pair.nowMs - agoMs);
            await pair.check({ span, closed, percentiles: [0, 10, 50, 99, 100] });
            pair.nowMs += stepMs;
            await pair.check({ span, closed }, { cold: false });
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("the order of arrival and the split into calls and chunks change no answer beyond rounding", async () => {
    const event = fc.record({ value: fc.double({ noNaN: true, min: -1e9, max: 1e9 }), agoMs: fc.nat(4999) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 60 }),
        fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        async (events, swaps, size) => {
          const shuffled = [...events];
          for (const [a, b] of swaps)
            if (a < events.length && b < events.length) [shuffled[a], shuffled[b]] = [shuffled[b]!, shuffled[a]!];
          const pairs = [new Pair({ retention: 20_000 }), new Pair({ retention: 20_000 })];
          const t = pairs[0]!.nowMs;
          await pairs[0]!.put(
            events.map(({ value }) => value),
            events.map(({ agoMs }) => t - agoMs),
          );
          for (let from = 0; from < shuffled.length; from += size) {
            const part = shuffled.slice(from, from + size);
            await pairs[1]!.put(
              part.map(({ value }) => value),
              part.map(({ agoMs }) => t - agoMs),
            );
            pairs[1]!.nowMs += 1001 * (from % 2);
          }
          for (const span of [1, 1000, 4999]) {
            const [one, two] = [await pairs[0]!.check({ span, at: t }), await pairs[1]!.check({ span, at: t })];
            expect({ ...two.percentiles, count: two.count, min: two.min + 0, max: two.max + 0 }).toEqual({
              ...one.percentiles,
              count: one.count,
              min: one.min + 0,
              max: one.max + 0,
            });
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test("a local series of a million events is exact to the last digit", () => {
    let nowMs = 1_000_000;
    const local = new LocalSeries({ retention: "10s", values: "float64", clock: () => nowMs });
    const events: { t: number; value: number }[] = [];
    for (let i = 0; i < 1_000_000; i++) {
      if (i % 150 === 0) nowMs++;
      const value = (i * 7919) % 10_007;
      local.record(value);
      if (i % 150 >= 0) events.push({ t: nowMs, value });
    }
    for (const span of [1, 777, 5000]) {
      const values = inside(events, nowMs - span, nowMs);
      const sorted = Float64Array.from(values).sort();
      const { count, sum, percentiles } = local.stats({ span, percentiles: [0, 50, 99, 100], method: "lower" });
      expect({ count, sum }).toEqual({ count: values.length, sum: values.reduce((a, b) => a + b, 0) });
      for (const p of [0, 50, 99, 100] as const)
        expect(percentiles[p]).toBe(sorted[Math.floor(((values.length - 1) * p) / 100)]);
    }
  });
});
