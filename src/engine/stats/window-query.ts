import { argumentError, checkKnown } from "../../base/errors.ts";
import { oneOf } from "../../base/options.ts";
import { warnOfFractions } from "../../base/percent.ts";
import { type Closed, type Duration, durationMs, instantMs } from "../../base/time.ts";
import { type PercentileMethod, percentileRanks } from "../kernel/percentile/percentile.ts";

/** The window of a query. */
export interface WindowOptions {
  /** Length of the window; default and maximum: the series' retention. */
  span?: Duration | undefined;
  /** End of the window; default: the current time of the series. */
  at?: number | Date | undefined;
  /** "right" (default): from < t <= to. "both": from <= t <= to. */
  closed?: Closed | undefined;
  /**
   * Maximum age of the answer; default 0. It has all events that were acknowledged this long before the call. The processes share
   * the answers of `stats` about windows that end now or at a whole second, with at most 128 percentiles. One of them computes. The
   * others read some hundred bytes, or nothing if they have a young answer or a young copy. Other questions of `stats`, and `values` and
   * `fractionBelow`, send no request if the copy of this `Series` object is young enough and covers the window. The window ends at
   * that earlier time (`to`).
   */
  maxAge?: Duration | undefined;
  /** Aborts the wait. A request that was already sent may still take effect. */
  signal?: AbortSignal | undefined;
}

/** The percentiles of `stats` if the options name none. */
export type DefaultPercentiles = readonly [50, 90, 99];

/** The window of a query, and the statistics to compute. */
export interface StatsOptions<P extends readonly number[] = readonly number[]> extends WindowOptions {
  /**
   * The percentiles to compute, each from 0 to 100; default 50, 90, 99.
   * Fractions such as [0.99] cause a warning, once per process.
   */
  percentiles?: P | undefined;
  /** One of NumPy's 13 methods; default "linear". */
  method?: PercentileMethod | undefined;
  /** Variance divides by count - ddof; default 0. */
  ddof?: number | undefined;
}

export interface WindowQuery {
  spanMs: number;
  atMs: number | undefined;
  closed: Closed;
  maxAgeMs: number;
}

export interface StatsQuery extends WindowQuery {
  percentiles: readonly number[];
  method: PercentileMethod;
  ddof: number;
}

export const WINDOW_OPTIONS: readonly string[] = ["span", "at", "closed", "maxAge", "signal"];
export const STATS_OPTIONS = [...WINDOW_OPTIONS, "percentiles", "method", "ddof"];
/** Without `maxAge`, which would save nothing: a call that records sends a request in any case. */
const RECORD_OPTIONS = STATS_OPTIONS.filter((name) => name !== "maxAge");

const CHOSEN = "the series chooses what costs less";
const EXACT = "every answer is exact";
/** Options of earlier versions of `Series` and its queries. */
const GONE: Readonly<Record<string, string>> = {
  seal: "every series is sealed",
  compact: CHOSEN,
  resident: CHOSEN,
  where: CHOSEN,
  approximate: EXACT,
  summarize: EXACT,
};

/** Throws ARGUMENT for an option of earlier versions. The message says what happens now instead. */
export function checkGone(options: object): void {
  // Not the names of the options: a text of 2 MB has two million.
  for (const name in GONE) if (name in Object(options)) throw argumentError("option", name, `left out: ${GONE[name]}`);
}

export function windowQuery(options: WindowOptions, retentionMs: number, known = WINDOW_OPTIONS): WindowQuery {
  checkKnown(options, known);
  return windowOf(options, retentionMs, "at");
}

/** With `end` "now", the option `at` is the time of an event, not the end of the window. `known` are the options of the call. */
export function statsQuery(
  options: StatsOptions,
  retentionMs: number,
  end: "at" | "now" = "at",
  known: readonly string[] = end === "at" ? STATS_OPTIONS : RECORD_OPTIONS,
): StatsQuery {
  checkGone(options);
  checkKnown(options, known);
  const { percentiles = [50, 90, 99], method = "linear", ddof = 0 } = options;
  if (!Array.isArray(percentiles)) throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
  percentileRanks(method, 1, 50);
  for (const p of percentiles) percentileRanks(method, 1, p);
  warnOfFractions(percentiles);
  if (!Number.isSafeInteger(ddof) || ddof < 0) throw argumentError("ddof", ddof, "a whole number, 0 or more");
  const { spanMs, atMs, closed, maxAgeMs } = windowOf(options, retentionMs, end);
  // The caller may change the array later.
  return { spanMs, atMs, closed, maxAgeMs, percentiles: [...percentiles], method, ddof };
}

/** A text that equal windows have in common, and no others. `maxAge` is no part of it. */
export function kindOf({ spanMs, atMs, closed }: WindowQuery): string {
  return `${spanMs} ${atMs} ${closed}`;
}

/** The same of a question about statistics. */
export function statsKindOf(query: StatsQuery): string {
  const { percentiles, method, ddof } = query;
  return `${kindOf(query)} ${percentiles} ${method} ${ddof}`;
}

function windowOf(options: WindowOptions, retentionMs: number, end: "at" | "now"): WindowQuery {
  const { span = retentionMs, closed = "right" } = options;
  oneOf("closed", closed, "right", "both");
  const spanMs = durationMs("span", span);
  if (spanMs > retentionMs) throw argumentError("span", span, `at most the retention, ${retentionMs} ms`);
  const atMs = end === "now" || options.at === undefined ? undefined : instantMs("at", options.at);
  const maxAgeMs = options.maxAge === undefined ? 0 : durationMs("maxAge", options.maxAge, 0);
  return { spanMs, atMs, closed, maxAgeMs };
}
