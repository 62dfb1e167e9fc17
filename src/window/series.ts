import { argumentError, checkKnown } from "../errors.ts";
import type { Column } from "../kernel/contract.ts";
import type { Store } from "../store/contract.ts";
import { abortable } from "./abortable.ts";
import { approximateQuery, type SummarizeOptions, summaryError } from "./approximate-query.ts";
import { Fold } from "./fold.ts";
import { Journal } from "./journal.ts";
import { Queries } from "./queries.ts";
import type { WindowView } from "./question.ts";
import type { RecordManyOptions, RecordOptions } from "./record-options.ts";
import type { Recorded } from "./recorded.ts";
import { Recorder } from "./recorder.ts";
import { type SeriesOptions, type SeriesSettings, seriesSettings } from "./series-options.ts";
import { type SeriesStatsOptions, serverQuery } from "./server-query.ts";
import { waiting } from "./waiting.ts";
import {
  type StatsOptions,
  type StatsQuery,
  statsQuery,
  type WindowOptions,
  type WindowQuery,
  windowQuery,
} from "./window-query.ts";
import { type Degraded, fractionOf, statsOf, type WindowStats } from "./window-stats.ts";

type Compute<T> = (view: WindowView, fromMs: number, toMs: number) => T;

/**
 * Events of many processes under one name, and exact statistics over any window of them.
 * Every method rejects with OrielError; a wrong argument is refused before anything is sent. A resolved `record` is in
 * the journal once; a rejected one says by `applied` whether it may be.
 */
export class Series {
  readonly name: string;
  readonly #settings: SeriesSettings;
  readonly #journal: Journal;
  readonly #recorder: Recorder;
  readonly #queries: Queries;
  readonly #recordQueries: Queries;
  /** The answer last given: whoever shares it is given a copy. */
  #given: WindowStats | undefined;

  constructor(store: Store, name: string, options: SeriesOptions = {}) {
    this.name = name;
    this.#settings = seriesSettings(options);
    this.#journal = new Journal(store, name, this.#settings);
    this.#recorder = new Recorder(this.#journal, this.#settings);
    this.#queries = new Queries(this.#settings.retentionMs, "at");
    this.#recordQueries = new Queries(this.#settings.retentionMs, "now");
  }

  /** Records one event. One round trip, shared by all who record meanwhile. */
  record(value: number, options?: RecordOptions): Promise<Recorded> {
    if (options) return this.#recordWith(value, options);
    try {
      return this.#recorder.put(value).written;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #recordWith(value: number, options: RecordOptions): Promise<Recorded> {
    checkKnown(options, ["at", "signal"]);
    options.signal?.throwIfAborted();
    const recorded =
      options.at === undefined ? this.#recorder.put(value).written : this.#recorder.putAt(value, options.at);
    return abortable(recorded, options.signal);
  }

  /** Records events in order; a large call is split, and its error says how many were written. Cost: 4 or 8 bytes an event. */
  async recordMany(values: ArrayLike<number>, options: RecordManyOptions = {}): Promise<Recorded> {
    checkKnown(options, ["at", "signal"]);
    options.signal?.throwIfAborted();
    return abortable(this.#recorder.putMany(values, options.at), options.signal);
  }

  /**
   * Exact statistics of one window. One small round trip when the process holds the rest of the window already; none
   * where `maxAge` lets it answer from what it holds. With `where: "server"` the process holds nothing, and some hundred
   * bytes travel: the two agree to the last digit in counts, extrema and percentiles, in sum, mean and variance to a
   * rounding. TOO_LARGE for a window above the bounds.
   */
  async stats(options: SeriesStatsOptions = {}): Promise<WindowStats> {
    if (options?.approximate !== undefined) return abortable(this.#approximate(options), options.signal);
    if (options?.where !== undefined) return this.#statsWhere(options);
    const query = this.#queries.of(options);
    this.#journal.checkAskable();
    return abortable(this.#stats(query, 0), options.signal);
  }

  /** Records one event and answers for a window that holds it, in one round trip. */
  async recordAndGet(value: number, options: Omit<StatsOptions, "maxAge"> & RecordOptions = {}): Promise<WindowStats> {
    const query = this.#recordQueries.of(options);
    options.signal?.throwIfAborted();
    this.#journal.checkAskable();
    if (options.at === undefined) {
      this.#recorder.put(value);
      return abortable(this.#stats(query, this.#journal.outbox.lastId), options.signal);
    }
    const recorded = this.#recorder.putAt(value, options.at);
    const stats = this.#stats(query, this.#journal.outbox.lastId);
    stats.catch(() => {}); // told only when the event itself was not refused
    return abortable(
      recorded.then(() => stats),
      options.signal,
    );
  }

  /**
   * Publishes a summary of all within the retention, which answers who then asks with `approximate` and holds nothing: some
   * 28 kB in place of the journal, and what was recorded since, which is read exactly. It reads as `stats` does and writes
   * once; O(n log n). LOST, transient, where its open chunk was closed twice or deleted meanwhile; TOO_LARGE where more than
   * some 1300 processes record within 20 s.
   */
  async summarize(options: SummarizeOptions = {}): Promise<void> {
    const rankError = summaryError(options);
    this.#journal.checkAskable();
    await this.#journal.summaries.publish(rankError);
  }

  /** A copy of the values inside a window, in the order of the journal. */
  async values(options: WindowOptions = {}): Promise<Float32Array | Float64Array> {
    const query = windowQuery(options, this.#settings.retentionMs);
    return abortable(
      this.#ask<Column>(query, {}, (view, fromMs, toMs) => view.valuesInside(fromMs, toMs, query.closed), false),
      options.signal,
    );
  }

  /** The exact share of a window's events that are below `limit`; NaN for an empty window. */
  async fractionBelow(limit: number, options: WindowOptions = {}): Promise<number> {
    if (typeof limit !== "number" || Number.isNaN(limit)) throw argumentError("limit", limit, "a number");
    const query = windowQuery(options, this.#settings.retentionMs);
    const share = this.#ask(
      query,
      `below ${limit} ${query.kind}`,
      (view, fromMs, toMs) => fractionOf(foldOf(view, query, fromMs, toMs), limit, this.#settings.nan),
      false,
    );
    return abortable(share, options.signal);
  }

  /** Deletes all events; what is recorded meanwhile, here or elsewhere, may begin the series anew. */
  async delete(): Promise<void> {
    this.#journal.checkOpen();
    await this.#journal.delete();
  }

  /** Waits for what was recorded and lets go of all memory; the store stays open. */
  async close(): Promise<void> {
    await this.#journal.close();
  }

  /**
   * Statistics of several series as if they were one, percentiles over all values together: for what is too hot for
   * one Redis node, a series each on several nodes. Each part is exact, and holds all that was acknowledged before the
   * call; it is the window that ends at the part's own now (they differ by what the call takes and the nodes' clocks
   * do; the edges told are the latest), or at `at`: once that is over on every node, all who ask get the same. Rejects
   * when one part does, is degraded when one is. NaN counts by the strictest policy among them.
   */
  static async stats(series: readonly Series[], options: StatsOptions = {}): Promise<WindowStats> {
    if (!(series?.length > 0) || !series.every((one) => one instanceof Series))
      throw argumentError("series", series, "an array of one Series or more");
    for (const one of series) one.#journal.checkOpen();
    const query = statsQuery(options, Math.min(...series.map((one) => one.#settings.retentionMs)));
    const fold = new Fold();
    const edges = { fromMs: -Infinity, toMs: -Infinity };
    let degradedBy: Degraded | undefined;
    const parts = series.map((one) =>
      one.#ask(query, {}, (view, fromMs, toMs) => {
        view.collect(fold, fromMs, toMs, query.closed);
        degradedBy ??= view.degradedBy(fromMs);
        if (toMs > edges.toMs) Object.assign(edges, { fromMs, toMs });
      }),
    );
    await abortable(Promise.all(parts), options.signal);
    const nan = series.every((one) => one.#settings.nan === "ignore") ? "ignore" : "propagate";
    return statsOf(fold, query, nan, edges.fromMs, edges.toMs, degradedBy);
  }

  /** Callers of one commit who ask the same share the computation, not the object. */
  #stats(query: StatsQuery, afterBatch: number): Promise<WindowStats> {
    const { promise, resolve, reject } = waiting<WindowStats>();
    const compute = (view: WindowView, fromMs: number, toMs: number) => {
      const fold = foldOf(view, query, fromMs, toMs);
      return statsOf(fold, query, this.#settings.nan, fromMs, toMs, view.degradedBy(fromMs));
    };
    const give = (answer: unknown) => {
      const stats = answer as WindowStats;
      if (stats === this.#given) return resolve({ ...stats, percentiles: { ...stats.percentiles } });
      this.#given = stats;
      resolve(stats);
    };
    const { kind } = query;
    this.#journal.ask({ window: query, afterBatch, kind, tellsDegraded: true, compute, resolve: give, fail: reject });
    return promise;
  }

  #statsWhere({ where, ...options }: SeriesStatsOptions): Promise<WindowStats> {
    if (where === "client") return this.stats(options);
    if (where !== "server") throw argumentError("where", where, '"client" or "server"');
    const query = serverQuery(options, this.#settings.retentionMs);
    this.#journal.checkAskable();
    const { promise, resolve, reject } = waiting<WindowStats>();
    this.#journal.askServer({ query, resolve, fail: reject });
    return abortable(promise, options.signal);
  }

  async #approximate(options: SeriesStatsOptions): Promise<WindowStats> {
    const query = approximateQuery(options, this.#settings.retentionMs);
    this.#journal.checkAskable();
    return this.#journal.summaries.stats(query, () => this.#stats(query, 0));
  }

  #ask<T>(window: WindowQuery, kind: unknown, compute: Compute<T>, tellsDegraded = true): Promise<T> {
    const { promise, resolve, reject } = waiting<T>();
    this.#journal.checkAskable();
    this.#journal.ask({
      window,
      afterBatch: 0,
      kind,
      tellsDegraded,
      compute,
      resolve: resolve as (answer: unknown) => void,
      fail: reject,
    });
    return promise;
  }
}

/** A window that moves on with time is remembered; one that a caller fixed is not. */
function foldOf(view: WindowView, query: WindowQuery, fromMs: number, toMs: number): Fold {
  if (query.atMs === undefined) return view.fold(fromMs, toMs, query.closed);
  const fold = new Fold();
  view.collect(fold, fromMs, toMs, query.closed);
  return fold;
}
