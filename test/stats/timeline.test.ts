import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METHODS } from "../../src/engine/kernel/percentile/percentile.ts";
import type { TimelineOptions } from "../../src/engine/stats/timeline.ts";
import { LocalSeries, memoryStore, Series } from "../../src/entries/index.ts";
import { type Event, expectStats, inside } from "./oracle.ts";
import { expectTimeline, statsRow, timelineRow } from "./timeline-oracle.ts";

const DAY_MS = 86_400_000;
const PERCENTILES = [0, 12.5, 50, 99, 100];

const asked = fc.record<TimelineOptions<readonly number[]>>({
  span: fc.integer({ min: 1, max: 1500 }),
  every: fc.constantFrom(9, 60, 250, 999, 1000, 1500),
  align: fc.constantFrom("end", "every", undefined),
  window: fc.option(fc.constantFrom(1, 60, 333, 5000), { nil: undefined }),
  at: fc.option(fc.integer({ min: 1_000_000, max: 1_004_500 }), { nil: undefined }),
  closed: fc.constantFrom("right", "both"),
  method: fc.constantFrom(...METHODS),
});

describe("a timeline of a LocalSeries", () => {
  test.each(["float32", "float64"] as const)(
    "has the numbers of each bucket by brute force, and those of stats for it alone: %s",
    (values) => {
      const clock = { nowMs: 1_000_000 };
      const series = new LocalSeries({ values, nan: "ignore", retention: "10s", clock: () => clock.nowMs });
      const events: Event[] = [];
      for (let i = 0; i < 500; i++) {
        const value = i % 97 === 0 ? Number.NaN : ((i * 7919) % 1009) / 4;
        // Bursts, silence and times out of order.
        const t = clock.nowMs - (i % 11 === 0 ? 40 : 0);
        series.record(value, { at: t });
        events.push({ t, value });
        clock.nowMs += i % 100 === 99 ? 700 : i % 3;
      }
      fc.assert(
        fc.property(asked, (options) => {
          fc.pre((options.every as number) <= (options.span as number));
          const timeline = series.timeline({ ...options, percentiles: PERCENTILES });
          expectTimeline(timeline, options, options.at === undefined ? clock.nowMs : (options.at as number));
          for (const [i, toMs] of timeline.ends.entries()) {
            const fromMs = timeline.times[i]!;
            const { closed, method } = options;
            const alone = series.stats({ at: toMs, span: toMs - fromMs, closed, method, percentiles: PERCENTILES });
            expect(timelineRow(timeline, i)).toEqual(statsRow(alone));
            expectStats(alone, inside(events, fromMs, toMs, closed), {
              method,
              percentiles: PERCENTILES,
              nan: "ignore",
            });
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  test("an index of many events answers as stats does for each bucket alone", () => {
    const clock = { nowMs: 1_000_000 };
    const [series, plain] = [0, 1].map(() => new LocalSeries({ retention: "1h", clock: () => clock.nowMs }));
    for (let i = 0; i < 40_000; i++) {
      series!.record((i * 7919) % 10_007);
      plain!.record((i * 7919) % 10_007);
      clock.nowMs += i % 3;
    }
    for (let turn = 0; turn < 8; turn++) {
      const timeline = series!.timeline({ span: "30s", every: "500ms", percentiles: PERCENTILES });
      expect(timeline.counts.length).toBe(60);
      for (const [i, at] of timeline.ends.entries())
        if (i % 8 === turn)
          expect(timelineRow(timeline, i)).toEqual(statsRow(plain!.stats({ at, span: 500, percentiles: PERCENTILES })));
    }
  });

  test("an empty bucket has count 0, sum 0 and NaN for the rest", () => {
    const series = new LocalSeries({ clock: () => 10_000 });
    series.record(5);
    const { counts, sums, means, minima, maxima, percentiles } = series.timeline({
      ...{ span: 2000, every: 1000, percentiles: [50] },
    });
    expect([...counts]).toEqual([0, 1]);
    expect([...sums]).toEqual([0, 5]);
    for (const column of [means, minima, maxima, percentiles[50]]) expect([...column]).toEqual([Number.NaN, 5]);
  });

  test("a span that reaches back behind the retention is degraded", () => {
    const series = new LocalSeries({ retention: 1000, clock: () => 10_000 });
    expect(series.timeline({ every: 100 })).toMatchObject({ from: 9000, to: 10_000, degraded: false });
    expect(series.timeline({ every: 100, at: 9500 })).toMatchObject({ degraded: true, degradedBy: "retention" });
    const sliding = series.timeline({ every: 100, window: 300 });
    expect(sliding).toMatchObject({ from: 9300, to: 10_000, degraded: false });
    expect([...sliding.times]).toEqual([9100, 9200, 9300, 9400, 9500, 9600, 9700]);
    // As far back as a bucket reaches, not further.
    const earlier = (at: number) => series.timeline({ every: 100, window: 300, at });
    expect(earlier(9900)).toMatchObject({ from: 9200, degraded: false });
    expect(earlier(9900).times[0]).toBe(9000);
    expect(earlier(9899)).toMatchObject({ from: 9199, degraded: true, degradedBy: "retention" });
  });

  test("options may be inherited", () => {
    const series = new LocalSeries({ clock: () => 10_000 });
    expect([...series.timeline(Object.create({ span: 2000, every: 1000 })).ends]).toEqual([9000, 10_000]);
  });
});

describe("calendar days", () => {
  /** Instants at which the clocks of a zone change near a midnight, or a date is left out, and plain ones. */
  test.each([
    ["Europe/Berlin", "2024-03-31T12:00:00Z"],
    ["Europe/Berlin", "2024-10-27T12:00:00Z"],
    ["America/New_York", "2024-11-03T12:00:00Z"],
    ["America/Sao_Paulo", "2018-11-04T12:00:00Z"], // no midnight
    ["America/Sao_Paulo", "2018-02-18T12:00:00Z"], // the hour before midnight twice
    ["America/Havana", "2024-11-03T12:00:00Z"],
    ["Africa/Cairo", "2024-04-26T12:00:00Z"],
    ["Pacific/Apia", "2011-12-30T12:00:00Z"], // the 30th was left out
    ["Asia/Kolkata", "2024-01-01T12:00:00Z"],
    ["Australia/Lord_Howe", "2024-04-07T12:00:00Z"], // by half an hour
    ["UTC", "2024-02-29T00:00:00Z"],
  ])("days of %s around %s begin with the first minute of their local date", (timeZone, middle) => {
    const toMs = Date.parse(middle) + 3 * DAY_MS + 12_345;
    const series = new LocalSeries({ retention: "8d", clock: () => toMs });
    const begins = beginsOfDates(timeZone, toMs - 6 * DAY_MS, toMs);
    const { times, ends } = series.timeline({ span: "6d", every: "1d", timeZone });
    expect([...times]).toEqual([toMs - 6 * DAY_MS, ...begins.map(({ beginMs }) => beginMs)]);
    expect([...ends]).toEqual([...begins.map(({ beginMs }) => beginMs), toMs]);
    // Weeks begin with a Monday, or the day after it if the calendar left it out.
    const weeks = series.timeline({ span: "7d", every: "7d", timeZone });
    const mondays = beginsOfDates(timeZone, toMs - 7 * DAY_MS, toMs).filter(
      ({ date }) => new Date(date).getUTCDay() === 1,
    );
    expect([...weeks.ends]).toEqual([...mondays.map(({ beginMs }) => beginMs), toMs]);
  });
});

/** Zones that put the clocks back after midnight, and the first instant that is of the date before again. */
const REPEATED = [
  ["America/St_Johns", "2005-10-30T02:31:00Z"],
  ["Antarctica/Casey", "2010-03-04T15:00:00Z"],
] as const;

describe.each(REPEATED)("a day of %s that began before the clocks went back at %s", (timeZone, back) => {
  test.each([-1, 0, 1, 60_000, 1_800_000, 3_600_000, 3_600_001])("has begun %i ms after it", (laterMs) => {
    const toMs = Date.parse(back) + laterMs;
    const series = new LocalSeries({ retention: "4d", clock: () => toMs });
    const begins = beginsOfDates(timeZone, toMs - 3 * DAY_MS, toMs);
    const { ends } = series.timeline({ span: "3d", every: "1d", timeZone });
    expect([...ends]).toEqual([...begins.map(({ beginMs }) => beginMs), toMs]);
  });

  test("is one bucket of several series, of clocks before and after", async () => {
    const backMs = Date.parse(back);
    const stepped = [backMs - 30_000, backMs + 1_800_000, backMs + 5_400_000].map((endMs) => {
      const clock = { nowMs: backMs - 5 * 3_600_000 };
      return { clock, endMs, series: new Series(memoryStore({ clock: () => clock.nowMs }), "s", { retention: "4d" }) };
    });
    for (const { clock, endMs, series } of stepped) {
      await series.record(1);
      clock.nowMs = endMs;
      await series.recordMany([2, 3]);
    }
    const { counts } = await Series.timeline(
      stepped.map(({ series }) => series),
      { span: "3d", every: "1d", timeZone },
    );
    expect([...counts.slice(-2)]).toEqual([3, 6]);
  });
});

/** Looks at each minute: where a local date comes that is later than all before it, a day begins. */
function beginsOfDates(timeZone: string, fromMs: number, toMs: number): { date: string; beginMs: number }[] {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  const begins: { date: string; beginMs: number }[] = [];
  let latest = format.format(fromMs);
  for (let ms = Math.ceil(fromMs / 60_000) * 60_000; ms < toMs; ms += 60_000) {
    const date = format.format(ms);
    if (date > latest) begins.push({ date, beginMs: ms });
    if (date > latest) latest = date;
  }
  return begins;
}
