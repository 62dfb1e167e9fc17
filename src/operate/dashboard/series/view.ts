import { argumentError } from "../../../base/errors.ts";
import type { Column } from "../../../engine/kernel/contract.ts";
import type { Series } from "../../../engine/series/series.ts";
import type { WindowStats } from "../../../engine/stats/window-stats.ts";
import type { SeriesView, WindowNumbers } from "../protocol.ts";

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
function endsOf(fromMs: number, toMs: number, buckets: number): number[] {
  const leastMs = (toMs - fromMs) / buckets;
  const day = SECONDS.at(-1)! * 1000;
  const stepMs =
    [...STEPS, ...SECONDS.map((s) => s * 1000)].find((ms) => ms >= leastMs) ?? Math.ceil(leastMs / day) * day;
  const ends: number[] = [];
  for (let end = Math.floor(fromMs / stepMs) * stepMs + stepMs; end < toMs; end += stepMs) ends.push(end);
  return [...ends, toMs];
}

/** The window that a page asks for. */
export interface AskedWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** The share below this limit is asked for. */
  readonly below: number | undefined;
  readonly buckets: number;
}

const MAX_BUCKETS = 400;
const BUCKETS = 120;

/**
 * Reads `span`, `from` and `to`, `below` and `buckets`, in ms since 1970. Without `to` the window ends at the present of
 * the series. A window longer than the retention is cut to it. Throws ARGUMENT.
 */
export async function windowOf(series: Series, retentionMs: number, query: URLSearchParams): Promise<AskedWindow> {
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

export function windowNumbers(stats: WindowStats<50 | 90 | 99>, below: number | undefined): WindowNumbers {
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

/** Cuts a range of values into bins. The last bin contains its upper edge, too. */
export class Bins {
  readonly edges: readonly number[];
  readonly isLog: boolean;
  readonly #origin: number;
  readonly #scale: number;

  constructor(min: number, max: number, count: number) {
    this.isLog = min > 0 && max / min > LOG_RATIO;
    const [low, high] = this.isLog ? [Math.log(min), Math.log(max)] : [min, max];
    const width = high > low ? (high - low) / count : 1;
    this.#origin = low;
    this.#scale = 1 / width;
    const edgeAt = (i: number) => (this.isLog ? Math.exp(low + i * width) : low + i * width);
    // The outer edges are the values themselves, without the rounding of exp and log.
    this.edges = Array.from({ length: count + 1 }, (_, i) =>
      i === 0 ? min : i === count && high > low ? max : edgeAt(i),
    );
  }

  get count(): number {
    return this.edges.length - 1;
  }

  /** Number of values in each bin. Values outside the range, and NaN, count in no bin. */
  counts(values: Column): number[] {
    const counts = new Array<number>(this.count).fill(0);
    const [min, max] = [this.edges[0]!, this.edges.at(-1)!];
    for (const value of values) {
      if (!(value >= min && value <= max)) continue;
      const at = Math.floor(((this.isLog ? Math.log(value) : value) - this.#origin) * this.#scale);
      counts[Math.min(Math.max(at, 0), counts.length - 1)]!++;
    }
    return counts;
  }
}

/** Bins from the least to the largest finite value; undefined if there is none. */
export function binsOf(columns: readonly Column[], count: number): Bins | undefined {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const values of columns)
    for (const value of values)
      if (value - value === 0) {
        if (value < min) min = value;
        if (value > max) max = value;
      }
  return min <= max ? new Bins(min, max, count) : undefined;
}
