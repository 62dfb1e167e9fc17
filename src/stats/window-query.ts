import { argumentError, checkKnown } from "../errors.ts";
import { orderOf, type PercentileMethod } from "../kernel/percentile/percentile.ts";
import { warnOfFractions } from "../percent.ts";
import { type Closed, type Duration, durationMs, instantMs } from "../time.ts";

/** Which events a question is about. */
export interface WindowOptions {
  /** Length of the window; at most the series' retention, which is the default. */
  span?: Duration;
  /** End of the window; default: the series' now. */
  at?: number | Date;
  /** "right" (default): from < t <= to; "both": from <= t <= to. */
  closed?: Closed;
  /**
   * Answers without asking the store where the last answer, of this `Series` object, was asked for at most so long ago
   * and what is held covers the window: as of then (`to` tells), what was recorded since left out. Default 0.
   */
  maxAge?: Duration;
  /** Gives up waiting; what was sent may still happen. */
  signal?: AbortSignal;
}

/** What `stats` answers where no percentiles are named. */
export type DefaultPercentiles = readonly [50, 90, 99];

export interface StatsOptions<P extends readonly number[] = readonly number[]> extends WindowOptions {
  /** Percentiles wanted, each from 0 to 100; default 50, 90, 99. Fractions in their place ([0.99]) are warned of, once a process. */
  percentiles?: P;
  /** One of NumPy's 13 methods; default "linear". */
  method?: PercentileMethod;
  /** Variance divides by count - ddof; default 0. */
  ddof?: number;
}

export interface WindowQuery {
  spanMs: number;
  atMs: number | undefined;
  closed: Closed;
  maxAgeMs: number;
  /** Equal for equal questions. */
  kind: string;
}

export interface StatsQuery extends WindowQuery {
  percentiles: readonly number[];
  method: PercentileMethod;
  ddof: number;
}

const WINDOW_OPTIONS = ["span", "at", "closed", "maxAge", "signal"];
const STATS_OPTIONS = [...WINDOW_OPTIONS, "percentiles", "method", "ddof"];
/** Whoever records asks the store anyway. */
const RECORD_OPTIONS = STATS_OPTIONS.filter((name) => name !== "maxAge");

export function windowQuery(options: WindowOptions, retentionMs: number): WindowQuery {
  checkKnown(options, WINDOW_OPTIONS);
  return windowOf(options, retentionMs, "at");
}

/** `end` "now": the option `at` is not the window's end, but an event's time. */
export function statsQuery(options: StatsOptions, retentionMs: number, end: "at" | "now" = "at"): StatsQuery {
  checkKnown(options, end === "at" ? STATS_OPTIONS : RECORD_OPTIONS);
  const { percentiles = [50, 90, 99], method = "linear", ddof = 0 } = options;
  if (!Array.isArray(percentiles)) throw argumentError("percentiles", percentiles, "an array of numbers from 0 to 100");
  orderOf(method, 1, 50);
  for (const p of percentiles) orderOf(method, 1, p);
  warnOfFractions(percentiles);
  if (!Number.isSafeInteger(ddof) || ddof < 0) throw argumentError("ddof", ddof, "a whole number, 0 or more");
  const { spanMs, atMs, closed, maxAgeMs, kind } = windowOf(options, retentionMs, end);
  return {
    spanMs,
    atMs,
    closed,
    maxAgeMs,
    percentiles,
    method,
    ddof,
    kind: `${kind} ${percentiles} ${method} ${ddof}`,
  };
}

function windowOf(options: WindowOptions, retentionMs: number, end: "at" | "now"): WindowQuery {
  const { span = retentionMs, closed = "right" } = options;
  if (closed !== "right" && closed !== "both") throw argumentError("closed", closed, '"right" or "both"');
  const spanMs = durationMs("span", span);
  if (spanMs > retentionMs) throw argumentError("span", span, `at most the retention, ${retentionMs} ms`);
  const atMs = end === "now" || options.at === undefined ? undefined : instantMs("at", options.at);
  const maxAgeMs = options.maxAge === undefined ? 0 : durationMs("maxAge", options.maxAge, 0);
  return { spanMs, atMs, closed, maxAgeMs, kind: `${spanMs} ${atMs} ${closed}` };
}

/** Throws ARGUMENT for an option that does not exist, so that a slip of the pen is not silently ignored. */
