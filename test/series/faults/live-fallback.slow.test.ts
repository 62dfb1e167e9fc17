import { describe, expect, test } from "vitest";
import { LIVE_LIMITS, type LocalPercentileOptions } from "../../../src/engine/stats/live/percentile-queries.ts";
import { RETENTION_MS, Watched } from "../../stats/watched.ts";

describe("a live percentile falls back to stats", () => {
  const filled = () => {
    const series = new Watched();
    for (let i = 0; i < 1000; i++) {
      series.time.nowMs++;
      series.add((i * 7919) % 1000);
    }
    return series;
  };
  const isSettled = (series: Watched) => Array.from({ length: 10 }, () => series.ask(99)).at(-1);

  test("at first, and when more events entered or left at once than the bounds allow", () => {
    const series = new Watched({}, { ...LIVE_LIMITS, maxChanges: 20, patience: 2 });
    series.addMany(Array.from({ length: 500 }, (_, i) => i));
    expect([1, 2, 3, 4].map(() => series.ask(50))).toEqual([false, false, true, true]);
    series.addMany(Array.from({ length: 20 }, (_, i) => i));
    expect(series.ask(50)).toBe(true);
    series.addMany(Array.from({ length: 21 }, (_, i) => i));
    expect(series.ask(50)).toBe(false);
    expect(Array.from({ length: 5 }, () => series.ask(50))).toEqual([false, false, false, false, true]);
    series.time.nowMs += RETENTION_MS;
    expect(series.ask(50)).toBe(false);
    expect(series.percentile(50)).toBeNaN();
  });

  test("from a late event until it and all earlier ones have left", () => {
    const series = filled();
    expect(isSettled(series)).toBe(true);
    series.add(5000, series.time.nowMs - 100);
    expect(Array.from({ length: 100 }, () => series.ask(99)).some(Boolean)).toBe(false);
    series.time.nowMs += 1899;
    expect(series.ask(100)).toBe(false);
    // Those that it came behind are later than it, and leave after it.
    series.time.nowMs += 101;
    series.add(1);
    expect(Array.from({ length: 1000 }, () => series.ask(99)).at(-1)).toBe(true);
  });

  test("while an event is in the future, and counted once its time has come", () => {
    const series = filled();
    expect(isSettled(series)).toBe(true);
    series.add(5000, series.time.nowMs + 3);
    expect(series.ask(99)).toBe(false);
    series.time.nowMs += 3;
    expect(Array.from({ length: 100 }, () => series.ask(100)).at(-1)).toBe(true);
    expect(series.percentile(100)).toBe(5000);
  });

  test("or continues while the clock stands still or goes back: nothing changes", () => {
    const series = filled();
    expect(isSettled(series)).toBe(true);
    const before = series.percentile(99);
    series.time.nowMs -= 500;
    expect(series.ask(99)).toBe(true);
    expect(series.percentile(99)).toBe(before);
  });
});

describe("a query", () => {
  test("may reuse its options after a change", () => {
    const series = new Watched();
    for (let i = 0; i < 100; i++) {
      series.time.nowMs++;
      series.add(i);
    }
    const options: LocalPercentileOptions = { span: 10 };
    for (let i = 0; i < 10; i++) expect(series.percentile(100, options)).toBe(99);
    for (let i = 0; i < 10; i++) expect(series.percentile(0, options)).toBe(90);
    options.span = 50;
    for (let i = 0; i < 10; i++) expect(series.percentile(0, options)).toBe(50);
    options.closed = "both";
    for (let i = 0; i < 10; i++) expect(series.percentile(0, options)).toBe(49);
    options.method = "higher";
    for (let i = 0; i < 10; i++) expect(series.percentile(50, options)).toBe(74);
  });

  test.each([
    [101, {}, "percentile is 101; it must be from 0 to 100"],
    [Number.NaN, {}, "percentile"],
    [50, { span: "3s" }, "span"],
    [50, { method: "mean" }, "method"],
    [50, { closed: "left" }, "closed"],
    [50, { at: 1 }, "option"],
    [50, null, "options"],
  ])("percentile(%s, %j) is refused: %s", (p, options, message) => {
    const series = new Watched();
    for (let i = 0; i < 5; i++) series.ask(50);
    expect(() => series.percentile(p, options as LocalPercentileOptions)).toThrow(message);
    expect(() => series.percentile(p, options as LocalPercentileOptions)).toThrow(message);
    expect(series.percentile(50)).toBeNaN();
  });
});
