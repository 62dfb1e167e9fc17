import { argumentError, checkKnown, OrielError } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import { isDate } from "../../base/realm.ts";
import { Site } from "../../base/site.ts";
import { type Clock, instantMs } from "../../base/time.ts";
import type { Column } from "../kernel/contract.ts";
import { checkValue, type NanPolicy } from "../kernel/nan.ts";
import { type CompareOptions, type Comparison, compareQuery, comparisonOf } from "./comparison.ts";
import {
  type Asked,
  fractionOf,
  type Histogram,
  type HistogramOptions,
  histogramOf,
  histogramQuery,
  type Ranks,
  ranksOf,
  ranksQuery,
} from "./distribution.ts";
import {
  LIVE_LIMITS,
  type LiveLimits,
  type LocalPercentileOptions,
  PercentileQueries,
} from "./live/percentile-queries.ts";
import { LOCAL_SERIES, type LocalSeriesOptions } from "./local-series-options.ts";
import { EVENTS_PER_LEAF } from "./segments/leaf.ts";
import { PackedEvents } from "./segments/packed-events.ts";
import { bytesPerEvent } from "./segments/segment.ts";
import { Segments } from "./segments/segments.ts";
import { type Bucket, bucketsOf, type Timeline, type TimelineOptions, timelineOf, timelineQuery } from "./timeline.ts";
import { checkedColumn, timesOf, valuesInside } from "./values.ts";
import { type IndexLimits, WindowIndex } from "./wavelet/window-index.ts";
import { type FoldedWindow, WindowFolds, windowUntil } from "./window-folds.ts";
import {
  type DefaultPercentiles,
  type StatsOptions,
  statsQuery,
  type WindowOptions,
  type WindowQuery,
  windowQuery,
} from "./window-query.ts";
import { statsOf, type WindowAggregates, type WindowStats } from "./window-stats.ts";

/** Maximum lead of an event's own time over the clock. */
const MAX_EARLY_MS = 60_000;
/** A new segment starts this often, so that an expired segment can be dropped whole. */
const CHUNKS_PER_RETENTION = 64;
const SHORTEST_CHUNK_MS = 1000;
const AT = new Site("LocalSeries");
const NO_OPTIONS: LocalPercentileOptions = {};

/**
 * The windows and statistics of `Series` for one process, without a store and without promises.
 * Its time never goes back. If the clock does, the time stands still until the clock has caught up.
 * Cost: `record` takes some ns. `stats` of a window that moves with time folds about 64 summaries, filters the segments at
 * its edges, and selects from sorted runs once per percentile. Other windows use an index (`wavelet/`), once there is one.
 */
export class LocalSeries {
  readonly #retentionMs: number;
  readonly #valueType: number;
  readonly #nan: NanPolicy;
  readonly #clock: Clock;
  readonly #events: Segments;
  readonly #folds: WindowFolds;
  readonly #live: PercentileQueries;
  readonly #chunkMs: number;
  readonly #maxBytes: number;
  /** A value of smaller magnitude stays finite in its stored type. */
  readonly #safeBelow: number;
  #turnsAtMs = Number.NEGATIVE_INFINITY;
  #nowMs = Number.NEGATIVE_INFINITY;
  /** Number of events that fit before `#makeRoom` must count again. */
  #roomLeft = 0;

  constructor(options?: LocalSeriesOptions);
  /** @internal Tests pass smaller bounds, which reach rare states with a few events. */
  constructor(options?: LocalSeriesOptions, liveLimits?: LiveLimits, indexLimits?: IndexLimits);
  constructor(options: LocalSeriesOptions = {}, liveLimits: LiveLimits = LIVE_LIMITS, indexLimits?: IndexLimits) {
    const { values, nan, clock, retentionMs, maxBytes, compact } = AT.checked(undefined, () =>
      settingsOf(LOCAL_SERIES, options),
    );
    this.#retentionMs = retentionMs;
    this.#chunkMs = Math.max(SHORTEST_CHUNK_MS, Math.ceil(retentionMs / CHUNKS_PER_RETENTION));
    this.#valueType = values === "float64" ? 1 : 0;
    this.#maxBytes = maxBytes;
    this.#safeBelow = this.#valueType === 1 ? Number.MAX_VALUE : 3e38;
    this.#events = new Segments(this.#valueType, undefined, compact ? PackedEvents : undefined);
    this.#folds = new WindowFolds(new WindowIndex(indexLimits));
    this.#nan = nan;
    this.#clock = clock;
    this.#live = new PercentileQueries(this.#retentionMs, nan, liveLimits);
  }

  /** Records one event, now or at `at`. Throws LATE if older than the retention, EARLY if more than 60 s ahead. */
  record(value: number, options?: { at?: number | Date | undefined }): void {
    try {
      if (options !== undefined) checkKnown(options, ["at"]);
      // Fast path: a number of safe magnitude does not need further checks.
      if (typeof value !== "number" || !(Math.abs(value) < this.#safeBelow))
        checkValue(value, this.#valueType, this.#nan);
      const nowMs = this.#advance();
      const at = options?.at;
      const atMs = at === undefined ? nowMs : this.#checkAt(instantMs("at", at), nowMs);
      if (nowMs >= this.#turnsAtMs) this.#turnOver(nowMs);
      if (--this.#roomLeft < 0) this.#makeRoom(1, nowMs);
      this.#events.append(atMs, value);
    } catch (error) {
      throw AT.error("record", error);
    }
  }

  /** Records events in order. If one event is invalid, none is recorded. */
  recordMany(values: ArrayLike<number>, options?: { at?: number | Date | ArrayLike<number> | undefined }): void {
    try {
      if (options !== undefined) checkKnown(options, ["at"]);
      const column = checkedColumn(values, this.#valueType, this.#nan);
      const nowMs = this.#advance();
      const times = this.#timesOf(options?.at, column.length, nowMs);
      if (nowMs >= this.#turnsAtMs) this.#turnOver(nowMs);
      this.#roomLeft -= column.length;
      if (this.#roomLeft < 0) this.#makeRoom(column.length, nowMs);
      this.#events.appendAll(column, times);
    } catch (error) {
      throw AT.error("recordMany", error);
    }
  }

  /** Statistics of the window. An empty window has count 0, sum 0, and NaN elsewhere. */
  stats<const P extends readonly number[] = DefaultPercentiles>(options: StatsOptions<P> = {}): WindowStats<P[number]> {
    try {
      const query = statsQuery(options, this.#retentionMs);
      const window = this.#windowOf(query);
      const fold = this.#aggregatesOf(window);
      return statsOf(fold, query, this.#nan, window.fromMs, window.toMs, this.#degradedBy(window.fromMs));
    } catch (error) {
      throw AT.error("stats", error);
    }
  }

  /** Statistics of each bucket of a span, in columns: those of `stats` for the bucket alone. Throws ARGUMENT. */
  timeline<const P extends readonly number[] = DefaultPercentiles>(options: TimelineOptions<P>): Timeline<P[number]> {
    return AT.checked("timeline", () => {
      const query = timelineQuery(options, this.#retentionMs);
      const { toMs } = this.#windowOf(query);
      const buckets = bucketsOf(query, toMs);
      const aggregatesOf = (bucket: Bucket) => this.#aggregatesOf(bucket);
      return timelineOf(query, toMs, this.#nan, buckets, aggregatesOf, this.#degradedBy(buckets[0]!.fromMs));
    });
  }

  /** The number of events between each two bounds. Throws ARGUMENT for bounds that do not ascend. */
  histogram(options: HistogramOptions): Histogram {
    return AT.checked("histogram", () => {
      const query = histogramQuery(options, this.#retentionMs);
      return histogramOf(query, this.#asked(query));
    });
  }

  /** For each of the numbers, how many values of the window are below it, and how many are at most as large. */
  ranks(numbers: ArrayLike<number>, options: WindowOptions = {}): Ranks {
    return AT.checked("ranks", () => {
      const query = ranksQuery(numbers, options, this.#retentionMs);
      return ranksOf(query, this.#asked(query));
    });
  }

  /** The statistics of a window beside those of one that ended `before`, with the shift of each percentile. */
  compare<const P extends readonly number[] = DefaultPercentiles>(options: CompareOptions<P>): Comparison<P[number]> {
    return AT.checked("compare", () => {
      const query = compareQuery(options, this.#retentionMs);
      const { toMs } = this.#windowOf(query);
      const aggregatesOf = (window: FoldedWindow) => this.#aggregatesOf(window);
      return comparisonOf(query, toMs, this.#nan, aggregatesOf, (fromMs) => this.#degradedBy(fromMs));
    });
  }

  /**
   * One percentile (0 to 100) of the window that ends now; NaN if it is empty. The number is the same as in `stats`.
   * A repeated query costs some ns per event that entered or left since the last one. Other queries, and events whose
   * own times are out of order, cost as much as `stats`. Throws ARGUMENT for an invalid p, span, method or option.
   */
  percentile(p: number, options: LocalPercentileOptions = NO_OPTIONS): number {
    try {
      const answer = this.#live.answer(p, options, this.#events.list, this.#advance());
      return answer === undefined ? (this.stats({ ...options, percentiles: [p] }).percentiles[p] as number) : answer;
    } catch (error) {
      throw AT.error("percentile", error);
    }
  }

  /** Returns a copy of the values inside a window, in the order recorded. */
  values(options: WindowOptions = {}): Column {
    try {
      const query = windowQuery(options, this.#retentionMs);
      const toMs = query.atMs ?? this.#advance();
      return valuesInside(this.#events.list, this.#valueType, toMs - query.spanMs, toMs, query.closed);
    } catch (error) {
      throw AT.error("values", error);
    }
  }

  /** Returns the exact share of a window's events below `limit`; NaN for an empty window. */
  fractionBelow(limit: number, options: WindowOptions = {}): number {
    return AT.checked("fractionBelow", () => {
      if (typeof limit !== "number" || Number.isNaN(limit)) throw argumentError("limit", limit, "a number");
      const query = ranksQuery([limit], options, this.#retentionMs);
      return fractionOf(query, this.#asked(query));
    });
  }

  #aggregatesOf(window: FoldedWindow): WindowAggregates {
    return this.#folds.stats(this.#events, window, this.#maxBytes - this.#events.sizeBytes);
  }

  #asked(query: WindowQuery): Asked {
    const window = this.#windowOf(query);
    const fold = this.#folds.runs(this.#events, window);
    return { fold, window, nan: this.#nan, degradedBy: this.#degradedBy(window.fromMs) };
  }

  #windowOf(query: WindowQuery): FoldedWindow {
    const nowMs = this.#advance();
    // If recording has stopped, a query must drop the expired events.
    if (nowMs >= this.#turnsAtMs) this.#dropExpired(nowMs);
    return windowUntil(query.atMs ?? nowMs, query);
  }

  #degradedBy(fromMs: number): "retention" | undefined {
    return fromMs < this.#nowMs - this.#retentionMs ? "retention" : undefined;
  }

  #advance(): number {
    const nowMs = Math.floor(this.#clock());
    if (nowMs > this.#nowMs) this.#nowMs = nowMs;
    return this.#nowMs;
  }

  /** Runs once per 64th of the retention. Drops expired events, and closes the open segment unless it is tiny. */
  #turnOver(nowMs: number): void {
    this.#turnsAtMs = nowMs + this.#chunkMs;
    this.#dropExpired(nowMs);
    if (this.#events.openCount >= EVENTS_PER_LEAF) this.#events.close();
  }

  #dropExpired(nowMs: number): void {
    if (!this.#events.dropBefore(nowMs - this.#retentionMs)) return;
    this.#folds.release();
    this.#live.release();
  }

  /** Reserves room for `count` more events. Throws OVERLOADED if `maxBytes` has no room for them. */
  #makeRoom(count: number, nowMs: number): void {
    this.#dropExpired(nowMs);
    const { count: held, sizeBytes } = this.#events;
    const maxEvents = held + Math.floor((this.#maxBytes - sizeBytes) / bytesPerEvent(this.#valueType));
    const left = maxEvents - held - count;
    this.#roomLeft = Math.max(0, left);
    if (left < 0)
      throw new OrielError(
        "OVERLOADED",
        `maxBytes, ${this.#maxBytes}, has room for ${maxEvents} events; the series has ${held}`,
      );
  }

  #timesOf(at: number | Date | ArrayLike<number> | undefined, count: number, nowMs: number): number | Float64Array {
    if (at === undefined) return nowMs;
    if (typeof at === "number" || isDate(at)) return this.#checkAt(instantMs("at", at), nowMs);
    const times = timesOf(at, count);
    for (const ms of times) this.#checkAt(ms, nowMs);
    return times;
  }

  #checkAt(atMs: number, nowMs: number): number {
    if (atMs > nowMs + MAX_EARLY_MS)
      throw new OrielError(
        "EARLY",
        `at is ${atMs - nowMs} ms ahead of the clock; at most ${MAX_EARLY_MS} ms are allowed`,
      );
    if (atMs < nowMs - this.#retentionMs)
      throw new OrielError("LATE", `at is ${nowMs - atMs} ms old; the retention is ${this.#retentionMs} ms`);
    return atMs;
  }
}
