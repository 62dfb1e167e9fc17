import { Beside } from "../async/beside.ts";
import { untilEnded } from "../async/of-request.ts";
import { argumentError, checkKnown, checkSignal, type OrielError } from "../errors.ts";
import { ServerTime } from "../journal/replica/server-time.ts";
import type { Column } from "../kernel/contract.ts";
import { Place, placeOf } from "../place.ts";
import { Fold } from "../stats/segments/fold.ts";
import {
  type DefaultPercentiles,
  type StatsOptions,
  statsQuery,
  type WindowOptions,
  windowQuery,
} from "../stats/window-query.ts";
import { type Degraded, fractionOf, statsOf, type WindowStats } from "../stats/window-stats.ts";
import type { Store } from "../store/contract.ts";
import { abortable } from "./abortable.ts";
import { type SummarizeOptions, summaryError } from "./approximate-query.ts";
import { Asker, foldOf } from "./asker.ts";
import { Queries } from "./queries.ts";
import type { RecordManyOptions, RecordOptions } from "./record-options.ts";
import type { Recorded } from "./recorded.ts";
import { Recorder } from "./recorder.ts";
import { type SeriesOptions, type SeriesSettings, seriesSettings } from "./series-options.ts";
import type { SeriesStatsOptions } from "./server-query.ts";
import { Journal } from "./session/journal.ts";

/**
 * Events of many processes under one name, and exact statistics over any window of them.
 * Every method rejects with OrielError; a wrong argument is refused before anything is sent. A resolved `record` is in
 * the journal once; a rejected one says by `applied` whether it may be.
 */
export class Series {
  readonly name: string;
  readonly #store: Store;
  readonly #place: Place;
  readonly #settings: SeriesSettings;
  readonly #journals: Beside<Journal>;
  readonly #recorder: Recorder;
  readonly #asker: Asker;
  readonly #recordQueries: Queries;

  constructor(store: Store, name: string, options: SeriesOptions = {}) {
    this.#place = placeOf("Series", store, name);
    this.name = name;
    this.#store = store;
    this.#settings = this.#place.checked(undefined, () => seriesSettings(options));
    const time = new ServerTime(store.monotonic);
    const giveUp = (count: number, error: unknown) => this.#report(count, error);
    this.#journals = new Beside(() => new Journal(store, name, this.#settings, { place: this.#place, time, giveUp }));
    this.#recorder = new Recorder(this.#journals, this.#settings);
    this.#asker = new Asker(this.#journals, this.#settings);
    this.#recordQueries = new Queries(this.#settings.retentionMs, "now");
  }

  /** Records one event. One round trip, shared by all who record meanwhile. */
  record(value: number, options?: RecordOptions): Promise<Recorded> {
    if (options) return this.#place.run("record", () => this.#recordWith(value, options));
    try {
      return this.#recorder.put(value).written;
    } catch (error) {
      return Promise.reject(this.#place.error("record", error));
    }
  }

  /**
   * Records one event, and returns nothing: neither waits nor throws. What goes wrong, a wrong argument too, is told to
   * `store.on("error")`; while nobody listens, by `process.emitWarning` at most once a minute, with a count. Events beyond
   * `maxPendingBytes` are dropped, and counted there.
   */
  observe(value: number, options?: RecordOptions): void {
    try {
      if (!options) this.#recorder.put(value).observe(this.#unobserved);
      else this.#recordWith(value, options).catch((error) => this.#unobserved(error, 1));
    } catch (error) {
      this.#unobserved(error, 1);
    }
  }

  async #recordWith(value: number, options: RecordOptions): Promise<Recorded> {
    checkKnown(options, ["at", "signal"]);
    checkSignal(options.signal);
    options.signal?.throwIfAborted();
    const recorded =
      options.at === undefined ? this.#recorder.put(value).written : this.#recorder.putAt(value, options.at);
    return abortable(recorded, options.signal);
  }

  /** Records events in order; a large call is split, and its error says how many were written. Cost: 4 or 8 bytes an event. */
  recordMany(values: ArrayLike<number>, options: RecordManyOptions = {}): Promise<Recorded> {
    return this.#place.run("recordMany", () => {
      checkKnown(options, ["at", "signal"]);
      checkSignal(options.signal);
      options.signal?.throwIfAborted();
      return abortable(this.#recorder.putMany(values, options.at), options.signal);
    });
  }

  /**
   * Exact statistics of one window. One small round trip when the process holds the rest of the window already; none
   * where `maxAge` lets it answer from what it holds. With `where: "server"` the process holds nothing, and some hundred
   * bytes travel: the two agree to the last digit in counts, extrema and percentiles, in sum, mean and variance to a
   * rounding. TOO_LARGE for a window above the bounds.
   */
  stats<const P extends readonly number[] = DefaultPercentiles>(
    options: SeriesStatsOptions<P> = {},
  ): Promise<WindowStats<P[number]>> {
    return this.#asked("stats", () => {
      if (options?.approximate !== undefined) return abortable(this.#asker.approximately(options), options.signal);
      return options?.where === undefined ? this.#asker.here(options) : this.#asker.where(options);
    });
  }

  /** Records one event and answers for a window that holds it, in one round trip. */
  recordAndGet<const P extends readonly number[] = DefaultPercentiles>(
    value: number,
    options: Omit<StatsOptions<P>, "maxAge"> & RecordOptions = {},
  ): Promise<WindowStats<P[number]>> {
    return this.#place.run("recordAndGet", () => {
      const query = this.#recordQueries.of(options);
      checkSignal(options.signal);
      options.signal?.throwIfAborted();
      const journal = this.#journals.free;
      journal.checkAskable();
      if (options.at === undefined) {
        this.#recorder.put(value);
        return abortable(this.#asker.stats(journal, query, journal.outbox.lastId), options.signal);
      }
      const recorded = this.#recorder.putAt(value, options.at);
      const stats = this.#asker.stats(journal, query, journal.outbox.lastId);
      stats.catch(() => {}); // told only when the event itself was not refused
      return abortable(
        recorded.then(() => stats),
        options.signal,
      );
    });
  }

  /**
   * Publishes a summary of all within the retention, which answers who then asks with `approximate` and holds nothing: some
   * 28 kB in place of the journal, and what was recorded since, which is read exactly. It reads as `stats` does and writes
   * once; O(n log n). LOST, transient, where its open chunk was closed twice or deleted meanwhile; TOO_LARGE where more than
   * some 1300 processes record within 20 s.
   */
  summarize(options: SummarizeOptions = {}): Promise<void> {
    return this.#place.run("summarize", () => {
      const rankError = summaryError(options);
      const journal = this.#journals.free;
      journal.checkAskable();
      return journal.summaries.publish(rankError);
    });
  }

  /** A copy of the values inside a window, in the order of the journal. */
  values(options: WindowOptions = {}): Promise<Float32Array | Float64Array> {
    return this.#asked("values", () => {
      const query = windowQuery(options, this.#settings.retentionMs);
      return abortable(
        this.#asker.ask<Column>(
          query,
          {},
          (view, fromMs, toMs) => view.valuesInside(fromMs, toMs, query.closed),
          false,
        ),
        options.signal,
      );
    });
  }

  /** The exact share of a window's events that are below `limit`; NaN for an empty window. */
  fractionBelow(limit: number, options: WindowOptions = {}): Promise<number> {
    return this.#asked("fractionBelow", () => {
      if (typeof limit !== "number" || Number.isNaN(limit)) throw argumentError("limit", limit, "a number");
      const query = windowQuery(options, this.#settings.retentionMs);
      const share = this.#asker.ask(
        query,
        `below ${limit} ${query.kind}`,
        (view, fromMs, toMs) => fractionOf(foldOf(view, query, fromMs, toMs), limit, this.#settings.nan),
        false,
      );
      return abortable(share, options.signal);
    });
  }

  /**
   * Deletes all events; what is recorded or handed in meanwhile, here or elsewhere, may begin the series anew. What this
   * process keeps under `onStoreError: "local"` is given up: `store.on("error")` tells its number, `applied` "no".
   */
  delete(): Promise<void> {
    return this.#place.run("delete", () => {
      const journal = this.#journals.free;
      journal.checkOpen();
      return journal.delete();
    });
  }

  /** Waits for what was recorded and lets go of all memory; the store stays open. */
  async close(): Promise<void> {
    await Promise.all(this.#journals.close().map((journal) => untilEnded(journal.close())));
  }

  /**
   * Statistics of several series as if they were one, percentiles over all values together: for what is too hot for
   * one Redis node, a series each on several nodes. Each part is exact, and holds all that was acknowledged before the
   * call; it is the window that ends at the part's own now (they differ by what the call takes and the nodes' clocks
   * do; the edges told are the latest), or at `at`: once that is over on every node, all who ask get the same. Rejects
   * when one part does, is degraded when one is. NaN counts by the strictest policy among them.
   */
  static stats<const P extends readonly number[] = DefaultPercentiles>(
    series: readonly Series[],
    options: StatsOptions<P> = {},
  ): Promise<WindowStats<P[number]>> {
    return new Place("Series").run("stats", () => Series.#merged(series, options), "no");
  }

  static async #merged(series: readonly Series[], options: StatsOptions): Promise<WindowStats> {
    if (!Array.isArray(series) || series.length === 0 || !series.every((one) => one instanceof Series))
      throw argumentError("series", series, "an array of one Series or more");
    for (const one of series) one.#journals.free.checkOpen();
    const query = statsQuery(options, Math.min(...series.map((one) => one.#settings.retentionMs)));
    checkSignal(options.signal);
    const [fold, edges] = [new Fold(), { fromMs: -Infinity, toMs: -Infinity }];
    let degradedBy: Degraded | undefined;
    const parts = series.map((one) =>
      one.#asked("stats", () =>
        one.#asker.ask(query, {}, (view, fromMs, toMs) => {
          view.collect(fold, fromMs, toMs, query.closed);
          degradedBy ??= view.degradedBy(fromMs);
          if (toMs > edges.toMs) Object.assign(edges, { fromMs, toMs });
        }),
      ),
    );
    await abortable(Promise.all(parts), options.signal);
    const nan = series.every((one) => one.#settings.nan === "ignore") ? "ignore" : "propagate";
    return statsOf(fold, query, nan, edges.fromMs, edges.toMs, degradedBy);
  }

  /** A question changes nothing, also where its answer is lost. */
  #asked<T>(operation: string, question: () => Promise<T>): Promise<T> {
    return this.#place.run(operation, question, "no");
  }

  readonly #unobserved = (error: unknown, count: number): void => {
    this.#report(count, this.#place.outer("observe", error));
  };

  #report(count: number, error: unknown): void {
    this.#store.report?.({ error: error as OrielError, count });
  }
}
