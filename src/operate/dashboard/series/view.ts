import { argumentError } from "../../../base/errors.ts";
import type { Series } from "../../../engine/series/series.ts";
import type { ShardedSeries } from "../../../engine/shards/sharded-series.ts";
import type { WindowStats } from "../../../engine/stats/window-stats.ts";
import { csvOf } from "../csv.ts";
import type { SeriesView, WindowNumbers } from "../protocol.ts";

export type AnySeries = Series | ShardedSeries;

const HEAT_BINS = 36;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const SECONDS = [
  1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
];

/**
 * The numbers of each bucket of a window, and how its values are spread. The second turn has the same window: only events that are
 * recorded with a past time may have come since.
 */
export async function viewOf(series: AnySeries, { fromMs, toMs, below, buckets }: AskedWindow): Promise<SeriesView> {
  const all = { span: toMs - fromMs, at: toMs };
  const [whole, share, line] = await Promise.all([
    series.stats(all),
    below === undefined ? undefined : series.fractionBelow(below, all),
    series.timeline({ ...all, every: stepMsOf(all.span, buckets), align: "every" }),
  ]);
  const { times, ends, percentiles } = line;
  const bins = binsOf([...line.minima, ...percentiles[50], ...line.maxima], HEAT_BINS);
  const cells = bins && Promise.all(Array.from(ends, (at, i) => bins.counts(series, { at, span: at - times[i]! })));
  return {
    fromMs,
    toMs,
    endsMs: [...ends],
    count: [...line.counts],
    rate: Array.from(line.counts, (count, i) => rateOf(count, ends[i]! - times[i]!)),
    p50: Array.from(percentiles[50], finite),
    p90: Array.from(percentiles[90], finite),
    p99: Array.from(percentiles[99], finite),
    max: Array.from(line.maxima, finite),
    heat: bins ? { edges: bins.edges, isLog: bins.isLog, cells: (await cells)!.flat() } : null,
    whole: windowNumbers(whole, share),
  };
}

/** The buckets of a view, a line each. */
export function viewCsv({ endsMs, count, rate, p50, p90, p99, max }: SeriesView): string {
  const rows = endsMs.map((endMs, i) => [
    new Date(endMs).toISOString(),
    ...[count, rate, p50, p90, p99, max].map((column) => column[i] ?? null),
  ]);
  return csvOf(["end", "count", "rate", "p50", "p90", "p99", "max"], rows);
}

/** A round length for about `buckets` buckets. They end at its multiples, so they stay the same as the window moves. */
export function stepMsOf(spanMs: number, buckets: number): number {
  const leastMs = spanMs / buckets;
  const day = SECONDS.at(-1)! * 1000;
  const stepMs =
    [...STEPS, ...SECONDS.map((s) => s * 1000)].find((ms) => ms >= leastMs) ?? Math.ceil(leastMs / day) * day;
  return Math.min(stepMs, spanMs);
}

/** The window that a page asks for. */
export interface AskedWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** The share below this limit is asked for. */
  readonly below: number | undefined;
  readonly buckets: number;
}

/** A `Series` or a `SeriesGroup`. */
interface Asked {
  stats(options: { span: number; percentiles: [] }): Promise<{ to: number }>;
}

const MAX_BUCKETS = 400;
const BUCKETS = 120;

/**
 * Reads `span`, `from` and `to`, `below` and `buckets`, in ms since 1970. Without `to` the window ends at the present of
 * the series. A window longer than the retention is cut to it. Throws ARGUMENT.
 */
export async function windowOf(series: Asked, retentionMs: number, query: URLSearchParams): Promise<AskedWindow> {
  const from = numberOf(query, "from");
  const to = numberOf(query, "to");
  const span = numberOf(query, "span") ?? Math.min(retentionMs, 300_000);
  const below = numberOf(query, "below");
  const buckets = numberOf(query, "buckets") ?? BUCKETS;
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > MAX_BUCKETS)
    throw argumentError("buckets", buckets, `a whole number from 1 to ${MAX_BUCKETS}`);
  const toMs = Math.floor(to ?? (await series.stats({ span: 1, percentiles: [] })).to);
  const fromMs = Math.max(Math.floor(from ?? toMs - span), toMs - retentionMs);
  if (!(fromMs < toMs)) throw argumentError("from", from ?? fromMs, `ms since 1970 before to, ${toMs}`);
  return { fromMs, toMs, below, buckets };
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) throw argumentError(name, text, "a number");
  return value;
}

/** A number that JSON can hold; null for NaN and infinities. */
export function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** Events per second; null for a window without a length. */
export function rateOf(count: number, spanMs: number): number | null {
  return finite((count * 1000) / spanMs);
}

type Stats = Pick<WindowStats, "from" | "to" | "count" | "mean" | "std" | "min" | "max" | "degradedBy"> & {
  percentiles: Readonly<Record<number, number | undefined>>;
};

export function windowNumbers(stats: Stats, below: number | undefined): WindowNumbers {
  const { from, to, count, mean, std, min, max, percentiles, degradedBy = null } = stats;
  return {
    fromMs: from,
    toMs: to,
    count,
    rate: rateOf(count, to - from),
    mean: finite(mean),
    std: finite(std),
    min: finite(min),
    max: finite(max),
    p50: finite(percentiles[50]),
    p90: finite(percentiles[90]),
    p99: finite(percentiles[99]),
    below: finite(below),
    degradedBy,
  };
}

/** A wider range than this is cut into bins of equal ratio. */
const LOG_RATIO = 20;

/** A range of values in bins. The first and the last one also have the infinities. */
class Bins {
  readonly edges: readonly number[];
  readonly isLog: boolean;

  constructor(min: number, max: number, count: number) {
    this.isLog = min > 0 && max / min > LOG_RATIO;
    const [low, high] = this.isLog ? [Math.log(min), Math.log(max)] : [min, max];
    const width = high > low ? high / count - low / count : Math.max(1, Math.abs(low) / count);
    const edgeAt = (i: number) => (this.isLog ? Math.exp(low + i * width) : low + i * width);
    // The outer edges are the values themselves, without the rounding of exp and log.
    const edges = Array.from({ length: count + 1 }, (_, i) =>
      i === 0 ? min : i === count && high > low ? max : edgeAt(i),
    );
    // Numbers that are neighbours leave no room for edges between them, and the largest number has none above it.
    const ascending = edges.filter((edge, i) => i === 0 || (edge > edges[i - 1]! && edge <= Number.MAX_VALUE));
    this.edges = ascending.length > 1 ? ascending : [0, min];
  }

  /** Number of values of a window in each bin. */
  async counts(series: AnySeries, window: { span: number; at: number }): Promise<number[]> {
    const { counts } = await series.histogram({ ...window, bounds: this.edges.slice(1) });
    const last = counts.length - 2;
    counts[last]! += counts[last + 1]!;
    return [...counts.subarray(0, -1)];
  }
}

/** Bins from the least to the largest finite number; undefined if there is none. */
export function binsOf(numbers: readonly number[], count: number): Bins | undefined {
  const finites = numbers.filter(Number.isFinite);
  return finites.length > 0 ? new Bins(Math.min(...finites), Math.max(...finites), count) : undefined;
}
