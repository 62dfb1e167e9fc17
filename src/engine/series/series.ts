import { abortable } from "../../base/async/aborts.ts";
import { Beside } from "../../base/async/beside.ts";
import { endsWithRequest } from "../../base/async/of-request.ts";
import { untilEnded } from "../../base/async/within.ts";
import { ofThisCopy } from "../../base/copies.ts";
import { argumentError, checkUnaborted, type OrielError } from "../../base/errors.ts";
import { Site, siteOf } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { register } from "../../store/registry/register.ts";
import { ServerTime } from "../journal/replica/last-seen.ts";
import type { Column } from "../kernel/contract.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import { type CompareOptions, type Comparison, compareQuery, comparisonOf } from "../stats/comparison.ts";
import {
  type Asked,
  fractionOf,
  type Histogram,
  type HistogramOptions,
  histogramOf,
  histogramQuery,
  type LimitsQuery,
  type Ranks,
  ranksOf,
  ranksQuery,
} from "../stats/distribution.ts";
import {
  type Bucket,
  bucketsOf,
  type Timeline,
  type TimelineOptions,
  timelineOf,
  timelineQuery,
} from "../stats/timeline.ts";
import { windowUntil } from "../stats/window-folds.ts";
import {
  type DefaultPercentiles,
  type StatsOptions,
  type StatsQuery,
  statsQuery,
  type WindowOptions,
  type WindowQuery,
  windowQuery,
} from "../stats/window-query.ts";
import type { WindowStats } from "../stats/window-stats.ts";
import { SharedAnswers } from "./answers/shared-answers.ts";
import { bucketsPart, mergedStats, mergedTimeline, partOf } from "./parts.ts";
import { aggregatesOf, foldOf, type WindowView } from "./pending-query.ts";
import { type KnownQuery, QueryCache } from "./queries.ts";
import {
  checkRecordOptions,
  type Recorded,
  type RecordManyOptions,
  type RecordOptions,
  type SeriesOptions,
  type SeriesSettings,
  seriesSettings,
} from "./series-options.ts";
import { CommitLoop } from "./session/commit-loop.ts";
import type { QueryPlanReport } from "./session/query-plan.ts";

/**
 * Events of many processes under one name, and exact statistics over any window of them. A wrong argument rejects before
 * any request is sent. If `record` resolves, the event is stored once. If not, `applied` of its error says if it may be.
 */
export class Series {
  readonly name: string;
  readonly retentionMs: number;
  /**
   * Calls `listener` with the values of each batch that the store has. It has no code here: a class with a computed name stays in
   * bundles that do not use it.
   */
  declare readonly [tap]: (listener: (values: ArrayLike<number>) => void) => void;
  readonly #store: Store;
  readonly #site: Site;
  readonly #settings: SeriesSettings;
  readonly #loops: Beside<CommitLoop>;
  readonly #queries: QueryCache;
  readonly #recordQueries: QueryCache;
  readonly #shared: SharedAnswers;
  readonly #failedRecordAndGet: (error: unknown) => never;

  constructor(store: Store, name: string, options: SeriesOptions = {}) {
    this.#site = siteOf("Series", store, name);
    this.name = name;
    this.#store = store;
    this.#settings = this.#site.checked(undefined, () => seriesSettings(options));
    this.retentionMs = this.#settings.retentionMs;
    const [key, time] = [store.keyOf(name), new ServerTime(store.monotonic)];
    this.#loops = new Beside(() => new CommitLoop(store, key, this.#settings, time, this.#site));
    this.#queries = new QueryCache(this.retentionMs, "at");
    this.#recordQueries = new QueryCache(this.retentionMs, "now");
    this.#shared = this.#sharedAnswers();
    this.#failedRecordAndGet = this.#site.thrower("recordAndGet");
    this[tap] = (listener) => void this.#settings.written.add(listener);
    register(store, "Series", name, this, ...this.#settings.announced);
  }

  /** Records one event. All events recorded during a round trip share the next one. */
  record(value: number, options?: RecordOptions): Promise<Recorded> {
    if (options) return this.#site.run("record", () => this.#recordWith(value, options));
    return this.#site.traced("record", () => {
      try {
        return this.#loops.free.put(value).written;
      } catch (error) {
        return Promise.reject(this.#site.error("record", error));
      }
    });
  }

  /**
   * Records one event and returns nothing: it neither waits nor throws. Errors, also of a wrong argument, go to
   * `store.on("error")`. Without a listener `process.emitWarning` reports them with their number, at most once a minute.
   * Events above `maxPendingBytes` are dropped and reported there.
   */
  observe(value: number, options?: RecordOptions): void {
    try {
      if (!options) this.#loops.free.put(value).observe(this.#unobserved);
      else this.#recordWith(value, options).catch((error) => this.#unobserved(error, 1));
    } catch (error) {
      this.#unobserved(error, 1);
    }
  }

  async #recordWith(value: number, options: RecordOptions): Promise<Recorded> {
    checkRecordOptions(options);
    const loop = this.#loops.free;
    const recorded = options.at === undefined ? loop.put(value).written : loop.putAt(value, options.at);
    return abortable(recorded, options.signal);
  }

  /** Records events in order. A large call is split; its error says how many were written. Cost: 4 or 8 bytes per event. */
  recordMany(values: ArrayLike<number>, options: RecordManyOptions = {}): Promise<Recorded> {
    return this.#site.run("recordMany", () => {
      checkRecordOptions(options);
      return abortable(this.#loops.free.putMany(values, options.at), options.signal);
    });
  }

  /**
   * Exact statistics of one window. One small round trip if this process has a copy of the rest of the window. Otherwise some
   * hundred kB travel, in two or three requests, until a copy costs less (see `explain`). Both ways agree to the last digit in
   * counts, extrema and percentiles; sum, mean and variance may differ in rounding. With `maxAge` one process computes the
   * answer, and the others read it in one small round trip, or have it. Rejects with TOO_LARGE for a window above
   * `maxResidentBytes` whose chunks are not sealed.
   */
  stats<const P extends readonly number[] = DefaultPercentiles>(
    options: StatsOptions<P> = {},
  ): Promise<WindowStats<P[number]>> {
    return this.#asked("stats", () => abortable(this.#stats(options), options?.signal));
  }

  /**
   * How this process would compute `stats` with these options now, and the costs that it knows. A shared answer (`maxAge`) it would
   * not compute. Sends nothing. Throws ARGUMENT and, if the series is closed, UNAVAILABLE.
   */
  explain(options: StatsOptions = {}): QueryPlanReport {
    return this.#site.checked("explain", () => this.#askable().online.explain(statsQuery(options, this.retentionMs)));
  }

  #stats(options: StatsOptions): Promise<WindowStats> {
    const query = this.#queries.of(options);
    const loop = this.#askable(options);
    // With "local" this process has a copy in any case.
    const isOwn = this.#settings.isLocalOnError || !SharedAnswers.suits(query) || loop.online.view.isYoungFor(query);
    if (isOwn) return loop.exact.stats(query);
    const answer = this.#shared.stats(query);
    return endsWithRequest ? answer : loop.track(answer);
  }

  #sharedAnswers(): SharedAnswers {
    const { valueType, clock, nan, entropy } = this.#settings;
    // Processes with other settings have other answers, or an error.
    const form = [
      valueType === 1 ? "float64" : "float32",
      clock === 1 ? "event" : "server",
      nan === "ignore" ? nan : "nan",
    ];
    const own = {
      compute: (query: KnownQuery) => this.#loops.free.exact.stats(query),
      losses: () => this.#loops.all.map((loop) => loop.online.view),
    };
    return new SharedAnswers(this.#store, `${this.#store.keyOf(this.name)}:answer:${form.join(":")}`, own, entropy);
  }

  /** Records one event and returns statistics of a window that includes it, in one round trip. */
  recordAndGet<const P extends readonly number[] = DefaultPercentiles>(
    value: number,
    options: Omit<StatsOptions<P>, "maxAge"> & RecordOptions = {},
  ): Promise<WindowStats<P[number]>> {
    if (options?.at !== undefined || options?.signal !== undefined)
      return this.#site.run("recordAndGet", () => this.#recordAndGetWith(value, options));
    return this.#site.traced("recordAndGet", () => {
      try {
        const query = this.#recordQueries.of(options);
        const loop = this.#askable();
        loop.put(value);
        return loop.exact.stats(query, loop.lastBatch, this.#failedRecordAndGet);
      } catch (error) {
        return Promise.reject(this.#site.error("recordAndGet", error));
      }
    });
  }

  #recordAndGetWith(value: number, options: StatsOptions & RecordOptions): Promise<WindowStats> {
    const query = this.#recordQueries.of(options);
    const loop = this.#askable(options);
    if (options.at === undefined) {
      loop.put(value);
      return abortable(loop.exact.stats(query, loop.lastBatch), options.signal);
    }
    const recorded = loop.putAt(value, options.at);
    const stats = loop.exact.stats(query, loop.lastBatch);
    stats.catch(() => {}); // reported only if the event itself was accepted
    const answered = recorded.then(() => stats);
    return abortable(answered, options.signal);
  }

  /**
   * Exact statistics of each bucket of a span, in columns: the p99 of every minute of the last hour, for instance. The numbers of a
   * bucket are those that `stats` has for it alone. All buckets are of one instant, and cost one request together, and the events
   * that this process lacks. Rejects with ARGUMENT, for example for more than 100 000 buckets, and with TOO_LARGE for a span above
   * `maxResidentBytes`.
   */
  timeline<const P extends readonly number[] = DefaultPercentiles>(
    options: TimelineOptions<P>,
  ): Promise<Timeline<P[number]>> {
    return this.#answer("timeline", options, timelineQuery, (view, toMs, query, nan) => {
      const buckets = bucketsOf(query, toMs);
      const aggregates = (bucket: Bucket) => aggregatesOf(view, bucket);
      return timelineOf(query, toMs, nan, buckets, aggregates, view.degradedBy(buckets[0]!.fromMs));
    });
  }

  /**
   * The exact number of values between each two bounds. Costs what `values` costs, without the copy. Rejects with ARGUMENT for bounds that do not ascend, and with TOO_LARGE for a window above `maxResidentBytes`.
   */
  histogram(options: HistogramOptions): Promise<Histogram> {
    return this.#answer("histogram", options, histogramQuery, (view, toMs, query, nan) =>
      histogramOf(query, askedOf(view, toMs, query, nan)),
    );
  }

  /**
   * For each of the numbers, how many values of the window are below it, and how many are at most as large. `below / count` is the share
   * that `fractionBelow` has for one number. Rejects as `histogram` does.
   */
  ranks(numbers: ArrayLike<number>, options: WindowOptions = {}): Promise<Ranks> {
    const queryOf = (given: WindowOptions, retentionMs: number) => ranksQuery(numbers, given, retentionMs);
    return this.#answer("ranks", options, queryOf, (view, toMs, query, nan) =>
      ranksOf(query, askedOf(view, toMs, query, nan)),
    );
  }

  /**
   * The statistics of a window beside those of one that ended `before`, at one instant, with the shift of each percentile: of the last
   * minute and the same minute an hour ago, for instance. Costs one request together, and the events that this process lacks.
   */
  compare<const P extends readonly number[] = DefaultPercentiles>(
    options: CompareOptions<P>,
  ): Promise<Comparison<P[number]>> {
    return this.#answer("compare", options, compareQuery, (view, toMs, query, nan) =>
      comparisonOf(
        query,
        toMs,
        nan,
        (window) => aggregatesOf(view, window),
        (fromMs) => view.degradedBy(fromMs),
      ),
    );
  }

  /** A copy of the values inside a window, in the order of the journal. */
  values(options: WindowOptions = {}): Promise<Column> {
    const valuesOf = (view: WindowView, toMs: number, { spanMs, closed }: WindowQuery) =>
      view.valuesInside(toMs - spanMs, toMs, closed);
    return this.#answer("values", options, windowQuery, valuesOf, false);
  }

  /** The exact share of a window's events that are below `limit`; NaN for an empty window. */
  fractionBelow(limit: number, options: WindowOptions = {}): Promise<number> {
    const queryOf = (given: WindowOptions, retentionMs: number) => {
      if (typeof limit !== "number" || Number.isNaN(limit)) throw argumentError("limit", limit, "a number");
      return ranksQuery([limit], given, retentionMs);
    };
    const fraction = (view: WindowView, toMs: number, query: LimitsQuery, nan: NanPolicy) =>
      fractionOf(query, askedOf(view, toMs, query, nan));
    return this.#answer("fractionBelow", options, queryOf, fraction, false);
  }

  /**
   * Deletes all events. Events recorded meanwhile, here or elsewhere, may begin the series anew. Events that this process
   * buffers under `onStoreError: "local"` are dropped: `store.on("error")` reports their number, `applied` "no". Events that were
   * acknowledged before do not come back, however late a copy of their request arrives. For that, one key of 64 bytes stays for 80 s.
   * Other processes may read an answer from before for as long as their `maxAge` allows.
   */
  delete(): Promise<void> {
    return this.#site.run("delete", () => {
      const loop = this.#loops.free;
      loop.checkOpen();
      return loop.delete().finally(() => this.#shared.forget());
    });
  }

  /** Waits for events that are being recorded and frees all memory. The store stays open. */
  close(): Promise<void> {
    return this.#site.run("close", async () => {
      this.#shared.close();
      await Promise.all(this.#loops.close().map((loop) => untilEnded(loop.close())));
    });
  }

  /**
   * Statistics of several series as if they were one, with percentiles over all values together. This suits events that
   * are too many for one Redis node: one series on each node. Each part is exact and includes every event acknowledged
   * before the call. Its window ends at the part's own current time, so the ends differ by the duration of the call and
   * the nodes' clocks; `from` and `to` are the latest. With an `at` that is past on every node, all callers get the same
   * answer. Rejects if one part does, and is degraded if one is. NaN follows the strictest policy of the series.
   */
  static stats<const P extends readonly number[] = DefaultPercentiles>(
    series: readonly Series[],
    options: StatsOptions<P> = {},
  ): Promise<WindowStats<P[number]>> {
    const queryOf = (retentionMs: number) => statsQuery(options, retentionMs);
    return Series.#ofSeveral("stats", series, options, queryOf, partOf, mergedStats);
  }

  /**
   * The timeline of several series as if they were one. What `Series.stats` says of their ends holds for it too. Buckets with edges of
   * their own (`align: "every"`, `timeZone`) belong together if those do, others by their place before the end.
   */
  static timeline<const P extends readonly number[] = DefaultPercentiles>(
    series: readonly Series[],
    options: TimelineOptions<P>,
  ): Promise<Timeline<P[number]>> {
    const queryOf = (retentionMs: number) => timelineQuery(options, retentionMs);
    return Series.#ofSeveral("timeline", series, options, queryOf, bucketsPart, mergedTimeline);
  }

  /** Asks each series for its part, and merges the parts. `queryOf` checks the options, by the shortest retention. */
  static #ofSeveral<Query extends StatsQuery, Part, Answer>(
    operation: string,
    series: readonly Series[],
    options: WindowOptions,
    queryOf: (retentionMs: number) => Query,
    partOf: (view: WindowView, fromMs: number, toMs: number, query: Query) => Part,
    merged: (parts: readonly Part[], query: Query, nan: NanPolicy) => Answer,
  ): Promise<Answer> {
    return new Site("Series").run(
      operation,
      async () => {
        if (!Array.isArray(series) || series.length === 0 || !series.every(isSeries))
          throw argumentError("series", series, ofThisCopy("an array of one Series or more", series, "Series"));
        for (const one of series) one.#loops.free.checkOpen();
        const query = queryOf(Math.min(...series.map((one) => one.retentionMs)));
        checkUnaborted(options.signal);
        const part = (view: WindowView, fromMs: number, toMs: number) => partOf(view, fromMs, toMs, query);
        const parts = series.map((one) => one.#asked(operation, () => one.#askable().exact.compute(query, {}, part)));
        const nan = series.every((one) => one.#settings.nan === "ignore") ? "ignore" : "propagate";
        return merged(await abortable(Promise.all(parts), options.signal), query, nan);
      },
      "no",
    );
  }

  /** Checks the options, and computes an answer from the events of one instant. */
  #answer<Options extends WindowOptions, Query extends WindowQuery, Answer>(
    operation: string,
    options: Options,
    queryOf: (options: Options, retentionMs: number) => Query,
    compute: (view: WindowView, toMs: number, query: Query, nan: NanPolicy) => Answer,
    reportsDegraded = true,
  ): Promise<Answer> {
    return this.#asked(operation, () => {
      const query = queryOf(options, this.retentionMs);
      const answer = (view: WindowView, _: number, toMs: number) => compute(view, toMs, query, this.#settings.nan);
      return abortable(this.#askable(options).exact.compute(query, {}, answer, reportsDegraded), options.signal);
    });
  }

  /** The loop for a query. Throws if its signal is aborted, the series is closed, or too many queries wait. */
  #askable({ signal }: WindowOptions = {}): CommitLoop {
    checkUnaborted(signal);
    const loop = this.#loops.free;
    loop.checkAskable();
    return loop;
  }

  /** A query changes nothing, even if its answer is lost. */
  #asked<T>(operation: string, query: () => Promise<T>): Promise<T> {
    return this.#site.run(operation, query, "no");
  }

  readonly #unobserved = (error: unknown, count: number): void => {
    this.#store.report?.({ error: this.#site.outer("observe", error) as OrielError, count });
  };
}

function isSeries(value: unknown): boolean {
  return value instanceof Series;
}

function askedOf(view: WindowView, toMs: number, query: WindowQuery, nan: NanPolicy): Asked {
  const window = windowUntil(toMs, query);
  return { fold: foldOf(view, window), window, nan, degradedBy: view.degradedBy(window.fromMs) };
}
