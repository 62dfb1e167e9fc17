import type { Series } from "../../../engine/series/series.ts";
import type { SeriesView } from "../protocol.ts";
import { binsOf } from "./bins.ts";
import { finite, rateOf, windowNumbers } from "./numbers.ts";
import type { AskedWindow } from "./window.ts";

const HEAT_BINS = 36;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const SECONDS = [
  1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
];

/**
 * The numbers of each bucket of a window. All queries are made in one turn, so they share one round trip and one cut of
 * the journal: one small request if this process has the rest of the window.
 */
export async function viewOf(series: Series, { fromMs, toMs, below, buckets }: AskedWindow): Promise<SeriesView> {
  const ends = endsOf(fromMs, toMs, buckets);
  const windows = ends.map((at, i) => ({ at, span: at - (ends[i - 1] ?? fromMs) }));
  const all = { span: toMs - fromMs, at: toMs };
  const [whole, share, stats, values] = await Promise.all([
    series.stats(all),
    below === undefined ? undefined : series.fractionBelow(below, all),
    Promise.all(windows.map((window) => series.stats(window))),
    Promise.all(windows.map((window) => series.values(window))),
  ]);
  const bins = binsOf(values, HEAT_BINS);
  return {
    fromMs,
    toMs,
    endsMs: ends,
    count: stats.map(({ count }) => count),
    rate: stats.map(({ count }, i) => rateOf(count, windows[i]!.span)),
    p50: stats.map(({ percentiles }) => finite(percentiles[50])),
    p90: stats.map(({ percentiles }) => finite(percentiles[90])),
    p99: stats.map(({ percentiles }) => finite(percentiles[99])),
    max: stats.map(({ max }) => finite(max)),
    heat: bins
      ? { edges: bins.edges, isLog: bins.isLog, cells: values.flatMap((column) => bins.counts(column)) }
      : null,
    whole: windowNumbers(whole, share),
  };
}

/**
 * The ends of about `buckets` buckets of a round length. All ends but the last are multiples of it, so buckets stay the
 * same as the window moves. The last one ends with the window.
 */
export function endsOf(fromMs: number, toMs: number, buckets: number): number[] {
  const leastMs = (toMs - fromMs) / buckets;
  const day = SECONDS.at(-1)! * 1000;
  const stepMs =
    [...STEPS, ...SECONDS.map((s) => s * 1000)].find((ms) => ms >= leastMs) ?? Math.ceil(leastMs / day) * day;
  const ends: number[] = [];
  for (let end = Math.floor(fromMs / stepMs) * stepMs + stepMs; end < toMs; end += stepMs) ends.push(end);
  return [...ends, toMs];
}
