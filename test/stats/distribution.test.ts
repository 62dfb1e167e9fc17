import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LocalSeries } from "../../src/entries/index.ts";
import { expectHistogram, expectRanks } from "./distribution-oracle.ts";
import { type Event, inside } from "./oracle.ts";

const SPECIAL = [Number.NEGATIVE_INFINITY, -1e300, -0, 0, 5e-324, 1e300, Number.POSITIVE_INFINITY];

const asked = fc.record({
  span: fc.integer({ min: 1, max: 3000 }),
  at: fc.option(fc.integer({ min: 1_000_000, max: 1_004_500 }), { nil: undefined }),
  closed: fc.constantFrom("right" as const, "both" as const),
  // The values are quarters too, and therefore often equal to one of these.
  numbers: fc.array(
    fc.oneof(
      fc.integer({ min: -8, max: 1100 }).map((i) => i / 4),
      fc.constantFrom(...SPECIAL),
    ),
    {
      minLength: 1,
      maxLength: 40,
    },
  ),
});

/** Bursts, silence, infinities and times out of order. */
function recorded(series: LocalSeries, clock: { nowMs: number }): Event[] {
  const events: Event[] = [];
  for (let i = 0; i < 500; i++) {
    const value = i % 83 === 0 ? SPECIAL[i % 7]! : i % 97 === 0 ? Number.NaN : ((i * 7919) % 1009) / 4;
    const t = clock.nowMs - (i % 11 === 0 ? 40 : 0);
    series.record(value, { at: t });
    events.push({ t, value: Math.fround(value) });
    clock.nowMs += i % 100 === 99 ? 700 : i % 3;
  }
  return events;
}

describe("the distribution of a LocalSeries", () => {
  test("is that of its values by brute force", () => {
    const clock = { nowMs: 1_000_000 };
    const series = new LocalSeries({ nan: "ignore", retention: "10s", clock: () => clock.nowMs });
    const events = recorded(series, clock);
    fc.assert(
      fc.property(asked, ({ numbers, ...window }) => {
        const toMs = window.at ?? clock.nowMs;
        const values = inside(events, toMs - window.span, toMs, window.closed).filter((value) => !Number.isNaN(value));
        const header = { from: toMs - window.span, to: toMs, degraded: false };
        const bounds = [...new Set(numbers.map((number) => number + 0))].sort((a, b) => (a < b ? -1 : 1));
        expectHistogram(series.histogram({ ...window, bounds }), values, bounds, header);
        const ranks = series.ranks(numbers, window);
        expectRanks(ranks, values, numbers, header);
        for (const [i, number] of numbers.entries())
          expect(series.fractionBelow(number, window)).toBe(ranks.below[i]! / ranks.count);
        expect(series.histogram({ ...window, bounds }).sum).toBe(series.stats(window).sum);
      }),
      { numRuns: 200 },
    );
  });

  test("has NaN in place of every number if a NaN is in the window and not ignored", () => {
    const clock = { nowMs: 1_000_000 };
    const series = new LocalSeries({ nan: "propagate", clock: () => clock.nowMs });
    series.recordMany([1, Number.NaN, 3]);
    expect(series.histogram({ bounds: [2] })).toMatchObject({
      count: 3,
      sum: Number.NaN,
      counts: Float64Array.of(Number.NaN, Number.NaN),
    });
    expect(series.ranks([2])).toMatchObject({
      count: 3,
      below: Float64Array.of(Number.NaN),
      atMost: Float64Array.of(Number.NaN),
    });
    expect(series.fractionBelow(2)).toBeNaN();
    clock.nowMs += 1000;
    series.record(5);
    expect(series.histogram({ bounds: [2], span: 1000 })).toMatchObject({
      count: 1,
      sum: 5,
      counts: Float64Array.of(0, 1),
    });
  });

  test("of an empty window is 0 throughout", () => {
    const series = new LocalSeries({ clock: () => 10_000 });
    const window = { count: 0, from: 9000, to: 10_000, degraded: false };
    const bounds = Float64Array.of(1, 2);
    expect(series.histogram({ span: 1000, bounds })).toEqual({
      ...window,
      bounds,
      counts: new Float64Array(3),
      sum: 0,
    });
    const none = new Float64Array(1);
    expect(series.ranks([7], { span: 1000 })).toEqual({ ...window, below: none, atMost: none });
    expect(series.fractionBelow(7)).toBeNaN();
  });

  test("has as many numbers as the length says, whatever an iterator has", () => {
    const series = new LocalSeries({ clock: () => 10_000 });
    const numbers = { length: 1, 0: 7, [Symbol.iterator]: () => new Float64Array(100_001).values() };
    expect(series.histogram({ bounds: numbers }).bounds).toEqual(Float64Array.of(7));
    expect(series.ranks(numbers).below).toHaveLength(1);
  });

  test("has the bounds of the call, and says if the window begins before the retention", () => {
    const series = new LocalSeries({ retention: 1000, clock: () => 10_000 });
    series.recordMany([1, 2, 3]);
    const bounds = [1, 2];
    const answer = series.histogram({ bounds, at: 10_500, span: 600 });
    bounds[0] = 0;
    expect(answer).toMatchObject({ bounds: Float64Array.of(1, 2), counts: Float64Array.of(1, 1, 1), degraded: false });
    expect(series.ranks([2], { at: 9900 })).toMatchObject({ degraded: true, degradedBy: "retention" });
  });
});

describe("a comparison of a LocalSeries", () => {
  test("has the statistics of both windows, and the shift and ratio of each percentile", () => {
    const clock = { nowMs: 1_000_000 };
    const series = new LocalSeries({ nan: "ignore", values: "float64", retention: "10s", clock: () => clock.nowMs });
    recorded(series, clock);
    fc.assert(
      fc.property(asked, fc.integer({ min: 1, max: 7000 }), ({ numbers: _, ...window }, before) => {
        const options = { ...window, percentiles: [0, 12.5, 50, 99, 100] as const, method: "hazen" as const };
        const { current, earlier, shifts, ratios } = series.compare({ ...options, before });
        const toMs = window.at ?? clock.nowMs;
        expect(current).toEqual(series.stats({ ...options, at: toMs }));
        expect(earlier).toEqual(series.stats({ ...options, at: toMs - before }));
        for (const p of options.percentiles) {
          expect(shifts[p]).toBe(current.percentiles[p] - earlier.percentiles[p]);
          expect(ratios[p]).toBe(current.percentiles[p] / earlier.percentiles[p]);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("with an empty window has NaN shifts", () => {
    const series = new LocalSeries({ clock: () => 10_000 });
    series.record(5);
    const { current, earlier, shifts, ratios } = series.compare({ span: 1000, before: 1000, percentiles: [50] });
    expect([current.count, earlier.count]).toEqual([1, 0]);
    expect([shifts, ratios]).toEqual([{ 50: Number.NaN }, { 50: Number.NaN }]);
  });
});
