import { expect } from "vitest";
import type { Timeline, TimelineOptions } from "../../src/engine/stats/timeline.ts";
import type { WindowStats } from "../../src/engine/stats/window-stats.ts";

/** Checks the edges of a timeline without a calendar against the definition, read ms by ms, and the lengths of its columns. */
export function expectTimeline(timeline: Timeline, options: TimelineOptions<readonly number[]>, toMs: number): void {
  const {
    span,
    every,
    window,
    align = "end",
  } = options as Record<"span" | "every" | "window", number> & typeof options;
  const ends: number[] = [];
  for (let ms = toMs - (span as number) + 1; ms <= toMs; ms++) {
    const isEdge = align === "end" ? (toMs - ms) % (every as number) === 0 : ms % (every as number) === 0;
    if (isEdge || ms === toMs) ends.push(ms);
  }
  expect([...timeline.ends]).toEqual(ends);
  const begins = ends.map((end, i) =>
    window === undefined ? (ends[i - 1] ?? toMs - (span as number)) : end - (window as number),
  );
  expect([...timeline.times]).toEqual(begins);
  expect(timeline).toMatchObject({ from: toMs - (span as number), to: toMs });
  const { times, ends: _, counts, sums, means, minima, maxima, percentiles } = timeline;
  for (const column of [times, counts, sums, means, minima, maxima, ...Object.values(percentiles)])
    expect(column.length).toBe(ends.length);
}

/** The numbers of one bucket. */
export function timelineRow(line: Timeline, i: number) {
  const percentiles = Object.fromEntries(Object.entries(line.percentiles).map(([p, column]) => [p, column[i]]));
  return {
    ...{ from: line.times[i], to: line.ends[i], count: line.counts[i], sum: line.sums[i], mean: line.means[i] },
    ...{ min: line.minima[i], max: line.maxima[i], percentiles },
  };
}

/** The same numbers of an answer of `stats`. */
export function statsRow({ from, to, count, sum, mean, min, max, percentiles }: WindowStats) {
  return { from, to, count, sum, mean, min, max, percentiles };
}
