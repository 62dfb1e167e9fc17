import { Calendar } from "../../base/calendar.ts";
import { argumentError } from "../../base/errors.ts";
import { oneOf } from "../../base/options.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import type { FoldedWindow } from "./window-folds.ts";
import {
  type DefaultPercentiles,
  STATS_OPTIONS,
  type StatsOptions,
  type StatsQuery,
  statsQuery,
} from "./window-query.ts";
import { type Degraded, statsOf, type WindowAggregates } from "./window-stats.ts";

/** The buckets of a timeline, and what is computed for each of them. */
export interface TimelineOptions<P extends readonly number[] = DefaultPercentiles>
  extends Omit<StatsOptions<P>, "ddof"> {
  /** Length of a bucket, at most the span; with `timeZone` a whole number of days. At most 100 000 buckets. */
  every: Duration;
  /** "end" (default): buckets end at the window's end and every `every` before it. "every": at multiples of `every` since 1970. */
  align?: "end" | "every" | undefined;
  /** Buckets are calendar days of this zone ("Europe/Berlin"), or `every` days that are counted from a Monday. */
  timeZone?: string | undefined;
  /** Length of the window that ends with each bucket; default: the bucket itself. Together with the span at most the retention. */
  window?: Duration | undefined;
}

/**
 * Exact statistics of each bucket, oldest first, in columns: the numbers at index i are those that `stats` has for the window from
 * `times[i]` to `ends[i]`. An empty bucket has count 0, sum 0 and NaN for the rest.
 */
export interface Timeline<P extends number = number> {
  /** Begin of each bucket, ms since 1970. */
  times: Float64Array;
  /** End of each bucket, ms since 1970. */
  ends: Float64Array;
  counts: Float64Array;
  sums: Float64Array;
  means: Float64Array;
  minima: Float64Array;
  maxima: Float64Array;
  /** A column for each of the requested percentiles, under its number. */
  percentiles: Record<P, Float64Array>;
  /** The edges of the span, ms since 1970. */
  from: number;
  to: number;
  /** True if a bucket may lack events. `degradedBy` is the reason, as in `stats`. */
  degraded: boolean;
  degradedBy?: Degraded;
  missingShare?: number;
}

/** A checked timeline. `spanMs` is how far back it needs events: its span, and `window`. */
export interface TimelineQuery extends StatsQuery {
  /** Time between its edges. */
  lengthMs: number;
  everyMs: number;
  align: "end" | "every";
  /** Undefined without `timeZone`. */
  calendar: Calendar | undefined;
  /** Undefined: the buckets themselves. */
  windowMs: number | undefined;
}

/** A bucket, or the window that ends with it. */
export type Bucket = FoldedWindow;

const MAX_BUCKETS = 100_000;
/** One of 8 buckets spends as much on an index as a single question does. */
const BUCKETS_PER_QUESTION = 8;
/** Within the times that a Date can have. Beyond them numbers lack the precision to count each ms. */
const MAX_AT_MS = 8e15;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY = 4;
const TIMELINE_OPTIONS = [
  ...STATS_OPTIONS.filter((name) => name !== "ddof"),
  ...["every", "align", "timeZone", "window"],
];

export function timelineQuery(options: TimelineOptions<readonly number[]>, retentionMs: number): TimelineQuery {
  const query = statsQuery(options, retentionMs, "at", TIMELINE_OPTIONS);
  const { span, at, every, align = "end", timeZone, window } = options;
  const windowMs = window === undefined ? undefined : durationMs("window", window, 1, retentionMs - 1);
  const maxMs = retentionMs - (windowMs ?? 0);
  const lengthMs = span === undefined ? maxMs : query.spanMs;
  if (lengthMs > maxMs) throw argumentError("span", span, `at most ${maxMs} ms with this window`);
  if (Math.abs(query.atMs ?? 0) > MAX_AT_MS) throw argumentError("at", at, `at most ${MAX_AT_MS} ms from 1970`);
  const everyMs = durationMs("every", every, 1, lengthMs);
  oneOf("align", align, "end", "every");
  if (lengthMs / everyMs > MAX_BUCKETS)
    throw argumentError(
      "every",
      every,
      `${Math.ceil(lengthMs / MAX_BUCKETS)} ms or more, for at most ${MAX_BUCKETS} buckets`,
    );
  const calendar = timeZone === undefined ? undefined : new Calendar(timeZone);
  if (calendar && everyMs % DAY_MS !== 0)
    throw argumentError("every", every, 'a whole number of days with timeZone, like "1d"');
  if (calendar && options.align === "end") throw argumentError("align", align, '"every" or left out with timeZone');
  return { ...query, spanMs: lengthMs + retentionMs - maxMs, lengthMs, everyMs, align, calendar, windowMs };
}

/**
 * The buckets of a timeline that ends at `toMs`, oldest first. They end at each edge inside the span, and with the span. A bucket
 * begins where the one before it ends, and the first with the span. So the first and the last may be shorter than the others. With
 * `window` each begins that long before its end.
 */
export function bucketsOf(query: TimelineQuery, toMs: number): Bucket[] {
  const { windowMs, calendar } = query;
  const beginMs = toMs - query.lengthMs;
  const edges = calendar ? daysBetween(beginMs, toMs, query.everyMs, calendar) : stepsBetween(beginMs, toMs, query);
  return [...edges, toMs].map((endMs, i) => ({
    fromMs: windowMs === undefined ? (edges[i - 1] ?? beginMs) : endMs - windowMs,
    toMs: endMs,
    ...{ closed: query.closed, endsNow: false, spares: i % BUCKETS_PER_QUESTION > 0 },
  }));
}

function stepsBetween(fromMs: number, toMs: number, { everyMs, align }: TimelineQuery): number[] {
  const anchorMs = align === "end" ? toMs : 0;
  const edges: number[] = [];
  let step = Math.floor((fromMs - anchorMs) / everyMs) + 1;
  for (; anchorMs + step * everyMs < toMs; step++) edges.push(anchorMs + step * everyMs);
  return edges;
}

/** The begins of days, or of the first day of each step. From the last to the first, as a day's begin names the day before it. */
function daysBetween(fromMs: number, toMs: number, everyMs: number, calendar: Calendar): number[] {
  const edges: number[] = [];
  for (let day = dayBefore(toMs, calendar); day * MINUTE_MS > fromMs; day = calendar.startOf("day", day - 1))
    if (stepOf(day, everyMs, calendar) !== stepOf(day - 1, everyMs, calendar)) edges.push(day * MINUTE_MS);
  return edges.reverse();
}

/**
 * The begin of the last day that begins before `endMs`. Clocks that go back at midnight repeat the end of a date after the next
 * one has begun. So the search begins a day later.
 */
function dayBefore(endMs: number, calendar: Calendar): number {
  let day = calendar.startOf("day", Math.ceil((endMs + DAY_MS) / MINUTE_MS) - 1);
  while (day * MINUTE_MS >= endMs) day = calendar.startOf("day", day - 1);
  return day;
}

/** The number of the step to which a minute belongs. Steps are counted from a Monday. */
function stepOf(minute: number, everyMs: number, calendar: Calendar): number {
  return Math.floor(((calendar.dateOf(minute) - FIRST_MONDAY) * DAY_MS) / everyMs);
}

/**
 * A number that buckets of two timelines have in common if they belong together, although the timelines end at different times. It is
 * that of the step that ends with the bucket. If steps are counted from the end, it is the place before the end.
 */
export function bucketNumber({ everyMs, align, calendar }: TimelineQuery, toMs: number, endMs: number): number {
  if (calendar) return stepOf(dayBefore(endMs, calendar), everyMs, calendar);
  return align === "end" ? (endMs - toMs) / everyMs : Math.ceil(endMs / everyMs);
}

/** Fills the columns from the aggregates of each bucket. */
export function timelineOf(
  query: TimelineQuery,
  toMs: number,
  nan: NanPolicy,
  buckets: readonly Bucket[],
  aggregatesOf: (bucket: Bucket) => WindowAggregates,
  degradedBy: Degraded | undefined,
): Timeline {
  const column = () => new Float64Array(buckets.length);
  const line: Timeline = {
    ...{ times: column(), ends: column(), counts: column(), sums: column(), means: column() },
    ...{ minima: column(), maxima: column(), percentiles: {}, from: toMs - query.lengthMs, to: toMs },
    degraded: degradedBy !== undefined,
    ...(degradedBy && { degradedBy }),
  };
  for (const p of query.percentiles) line.percentiles[p] = column();
  for (const [i, bucket] of buckets.entries()) {
    const { fromMs, toMs: endMs } = bucket;
    const stats = statsOf(aggregatesOf(bucket), query, nan, fromMs, endMs, undefined);
    line.times[i] = fromMs;
    line.ends[i] = endMs;
    line.counts[i] = stats.count;
    line.sums[i] = stats.sum;
    line.means[i] = stats.mean;
    line.minima[i] = stats.min;
    line.maxima[i] = stats.max;
    for (const p of query.percentiles) line.percentiles[p]![i] = stats.percentiles[p]!;
  }
  return line;
}
