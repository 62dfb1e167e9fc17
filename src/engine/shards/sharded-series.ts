import { abortable } from "../../base/async/aborts.ts";
import { argumentError, checkUnaborted, OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { ServerTime } from "../journal/replica/last-seen.ts";
import type { Column } from "../kernel/contract.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import type { OutlinedPart } from "../series/outlines/outline-stats.ts";
import {
  bucketsPart,
  comparedPart,
  mergedComparison,
  mergedOutlines,
  mergedStats,
  mergedTimeline,
  mergedWindow,
  partOf,
  type WindowPart,
} from "../series/parts.ts";
import { copyOf, type WindowView } from "../series/pending-query.ts";
import { afterRecording, isUnreachable, RECORDED } from "../series/refused.ts";
import {
  checkRecordOptions,
  type Recorded,
  type RecordManyOptions,
  type RecordOptions,
  type SeriesSettings,
} from "../series/series-options.ts";
import { CommitLoop } from "../series/session/commit-loop.ts";
import { type CompareOptions, type Comparison, compareQuery } from "../stats/comparison.ts";
import {
  fractionOf,
  type Histogram,
  type HistogramOptions,
  histogramOf,
  histogramQuery,
  type Ranks,
  ranksOf,
  ranksQuery,
} from "../stats/distribution.ts";
import { newColumn } from "../stats/segments/segment.ts";
import { type Timeline, type TimelineOptions, timelineQuery } from "../stats/timeline.ts";
import {
  type DefaultPercentiles,
  kindOf,
  type StatsOptions,
  type StatsQuery,
  statsKindOf,
  statsQuery,
  type WindowOptions,
  type WindowQuery,
  windowQuery,
} from "../stats/window-query.ts";
import type { WindowStats } from "../stats/window-stats.ts";
import { Shard } from "./shard.ts";
import { type ShardedSeriesOptions, shardSettings } from "./shard-options.ts";
import { type Answers, checkWhole, type Degradable, degrade, registerSharded, Shards, serversOf } from "./shards.ts";

/** Tries if outlines change while their parts are requested. */
const MAX_TRIES = 3;

/** The parts of an answer to a query, which may have got an end. */
interface Parts<Query, Part> extends Answers<Part> {
  query: Query;
}

/** The part of this shard has its events up to this batch. */
interface Recording {
  shard: Shard;
  batch: number;
}

/** How the shards are asked for their parts. */
interface Asking {
  after?: Recording | undefined;
  /** A part may be the outlines of its window. */
  mayOutline?: boolean;
  /** False if the answer cannot say that it is degraded. */
  reportsDegraded?: boolean;
}

/** The answer that callers of one question with the same parts share. */
interface Merged {
  kind: string;
  parts: readonly object[];
  answer: Promise<WindowStats | undefined>;
}

type PartOf<Query, Part> = (view: WindowView, fromMs: number, toMs: number, query: Query) => Part;

/**
 * A `Series` whose events are too many for one server: its shards are journals on several primaries of a cluster, or on several servers.
 * A process records the calls of one turn in one shard, and those of the next turn in the next shard. Answers are exact over all shards.
 * The part of each shard has every event that was acknowledged before the call. Its window ends at the shard's current time, so the ends
 * differ by the duration of the call and the servers' clocks; `from` and `to` are the latest. If shards cannot be reached, an answer
 * is `degraded` by "shards" and says their share.
 */
export class ShardedSeries {
  readonly name: string;
  readonly retentionMs: number;
  /** Number of shards in which this process records. */
  readonly shards: number;
  /** Calls `listener` with the values of each batch that a store has. */
  declare readonly [tap]: (listener: (values: ArrayLike<number>) => void) => void;
  readonly #site: Site;
  readonly #settings: SeriesSettings;
  readonly #shards: Shards;
  /** By the first of their parts. */
  readonly #merged = new WeakMap<object, Merged[]>();
  readonly #unobserved: (error: unknown, count: number) => void;

  /** `store`: the store of a cluster, or a list of stores, one for each server. All processes have the same list. */
  constructor(store: Store | readonly Store[], name: string, options: ShardedSeriesOptions = {}) {
    const servers = serversOf("ShardedSeries", store, name);
    const { site, stores } = servers;
    this.name = name;
    this.#site = site;
    const count = servers.isList ? stores.length : undefined;
    const { shards, series } = site.checked(undefined, () => shardSettings(options, count));
    this.shards = shards;
    this.#settings = series;
    const { retentionMs, announced } = series;
    this.retentionMs = retentionMs;
    this.#shards = new Shards(servers, name, shards, series, [], (store, key, beforeAppend) => {
      const time = new ServerTime(store.monotonic);
      const loopOf = (ended: (error: unknown) => void) =>
        new CommitLoop(store, key, { ...series, beforeAppend, ended }, time, site);
      return new Shard(loopOf, store.monotonic);
    });
    this.#unobserved = (error, count) =>
      stores[0]!.report?.({ error: site.outer("observe", error) as OrielError, count });
    this[tap] = (listener) => void series.written.add(listener);
    registerSharded("Series", servers, name, this, shards, announced);
  }

  /** Records one event. All events recorded at one time share the next round trip, to one shard. */
  record(value: number, options?: RecordOptions): Promise<Recorded> {
    if (options) return this.#site.run("record", () => this.#recordWith(value, options));
    return this.#site.traced("record", () => {
      try {
        return this.#shards.chosen().loop.put(value).written;
      } catch (error) {
        return Promise.reject(this.#site.error("record", error));
      }
    });
  }

  /** Records one event and returns nothing: it neither waits nor throws. Errors go where those of `Series.observe` go. */
  observe(value: number, options?: RecordOptions): void {
    try {
      if (!options) this.#shards.chosen().loop.put(value).observe(this.#unobserved);
      else this.#recordWith(value, options).catch((error) => this.#unobserved(error, 1));
    } catch (error) {
      this.#unobserved(error, 1);
    }
  }

  async #recordWith(value: number, options: RecordOptions): Promise<Recorded> {
    checkRecordOptions(options);
    const { at, signal } = options;
    const { loop } = this.#shards.chosen();
    return abortable(at === undefined ? loop.put(value).written : loop.putAt(value, at), signal);
  }

  /** Records events in order, in one shard. A large call is split; its error says how many were written. */
  recordMany(values: ArrayLike<number>, options: RecordManyOptions = {}): Promise<Recorded> {
    return this.#site.run("recordMany", () => {
      checkRecordOptions(options);
      return abortable(this.#shards.chosen().loop.putMany(values, options.at), options.signal);
    });
  }

  /** Records one event and returns statistics of a window that includes it. */
  recordAndGet<const P extends readonly number[] = DefaultPercentiles>(
    value: number,
    options: Omit<StatsOptions<P>, "maxAge"> & RecordOptions = {},
  ): Promise<WindowStats<P[number]>> {
    return this.#site.run("recordAndGet", () => {
      const query = statsQuery(options, this.retentionMs, "now");
      const { at, signal } = options;
      checkUnaborted(signal);
      const shard = this.#shards.chosen();
      shard.loop.checkAskable();
      const recorded = at === undefined ? shard.loop.put(value).written : shard.loop.putAt(value, at);
      const isRecorded = recorded.then(
        () => true,
        () => false,
      );
      const answered = this.#stats(query, { shard, batch: shard.loop.lastBatch });
      const stats = answered.catch(async (error) => {
        const isSaid = error instanceof OrielError && error.message.startsWith(RECORDED);
        throw (await isRecorded) && !isSaid ? afterRecording(error) : error;
      });
      if (at === undefined) return abortable(stats, signal);
      stats.catch(() => {}); // a time may be refused by itself
      return abortable(
        recorded.then(() => stats),
        signal,
      );
    });
  }

  /**
   * Exact statistics of one window over all shards. Each round trip goes to all shards at once: one, if this process has a copy of the
   * rest of the window, otherwise two or three, as for `Series.stats`. Rejects with TOO_LARGE as it does.
   */
  stats<const P extends readonly number[] = DefaultPercentiles>(
    options: StatsOptions<P> = {},
  ): Promise<WindowStats<P[number]>> {
    return this.#ask("stats", options, statsQuery, (query) => this.#stats(query));
  }

  /** Exact statistics of each bucket of a span, as `Series.timeline`. */
  timeline<const P extends readonly number[] = DefaultPercentiles>(
    options: TimelineOptions<P>,
  ): Promise<Timeline<P[number]>> {
    return this.#answer("timeline", options, timelineQuery, bucketsPart, mergedTimeline);
  }

  /** The exact number of values between each two bounds, as `Series.histogram`. */
  histogram(options: HistogramOptions): Promise<Histogram> {
    return this.#answer("histogram", options, histogramQuery, partOf, (parts, query, nan) =>
      histogramOf(query, mergedWindow(parts, query, nan)),
    );
  }

  /** For each of the numbers, how many values are below it, and how many are at most as large, as `Series.ranks`. */
  ranks(numbers: ArrayLike<number>, options: WindowOptions = {}): Promise<Ranks> {
    const queryOf = (given: WindowOptions, retentionMs: number) => ranksQuery(numbers, given, retentionMs);
    return this.#answer("ranks", options, queryOf, partOf, (parts, query, nan) =>
      ranksOf(query, mergedWindow(parts, query, nan)),
    );
  }

  /** The statistics of a window beside those of an earlier one, as `Series.compare`. */
  compare<const P extends readonly number[] = DefaultPercentiles>(
    options: CompareOptions<P>,
  ): Promise<Comparison<P[number]>> {
    return this.#asked("compare", options, compareQuery, comparedPart, ({ parts, query, missingShare }) => {
      const compared = mergedComparison(parts, query, this.#settings.nan);
      for (const stats of [compared.current, compared.earlier]) degrade(stats, missingShare);
      return compared;
    });
  }

  /** The values inside a window, shard after shard. Rejects with UNAVAILABLE if a shard cannot be reached. */
  values(options: WindowOptions = {}): Promise<Column> {
    const valuesOf: PartOf<WindowQuery, Column> = (view, fromMs, toMs, { closed }) =>
      view.valuesInside(fromMs, toMs, closed);
    return this.#whole("values", options, windowQuery, valuesOf, (parts) => {
      const all = newColumn(
        this.#settings.valueType,
        parts.reduce((sum, { length }) => sum + length, 0),
      );
      let at = 0;
      for (const part of parts) {
        all.set(part, at);
        at += part.length;
      }
      return all;
    });
  }

  /** The exact share of a window's events that are below `limit`; NaN for an empty window. Rejects as `values` does. */
  fractionBelow(limit: number, options: WindowOptions = {}): Promise<number> {
    const queryOf = (given: WindowOptions, retentionMs: number) => {
      if (typeof limit !== "number" || Number.isNaN(limit)) throw argumentError("limit", limit, "a number");
      return ranksQuery([limit], given, retentionMs);
    };
    return this.#whole("fractionBelow", options, queryOf, partOf, (parts, query) =>
      fractionOf(query, mergedWindow(parts, query, this.#settings.nan)),
    );
  }

  /**
   * Deletes all events of all shards, as `Series.delete`. If it rejects, some shards may still have theirs. It deletes none if some are
   * on servers that this process does not know.
   */
  delete(): Promise<void> {
    return this.#site.run("delete", () => this.#shards.delete());
  }

  /** Waits for events that are being recorded and frees all memory. The stores stay open. */
  close(): Promise<void> {
    return this.#site.run("close", () => this.#shards.close());
  }

  /** Statistics from the outlines of shards of which this process has no copy, if they did not change meanwhile. */
  async #stats(query: StatsQuery, after?: Recording): Promise<WindowStats> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await this.#parts<StatsQuery, WindowPart | OutlinedPart>(query, partOf, {
        after,
        mayOutline: true,
      });
      const answer = await this.#mergedOnce(found).catch((thrown) => {
        const error = asCorrupt(this.name, thrown);
        // The next try leaves out a shard that went away. At last the events are read, which says where they are damaged.
        if (!isUnreachable(error) && (error as OrielError).code !== "CORRUPT") throw error;
      });
      if (answer) return degrade(copyOf(answer), found.missingShare);
    }
    const { parts, query: asked, missingShare } = await this.#parts(query, partOf, { after });
    return degrade(mergedStats(parts, asked, this.#settings.nan), missingShare);
  }

  /** Undefined if the events are needed. All callers that have the same parts get the same object. */
  #mergedOnce({ parts, query }: Parts<StatsQuery, WindowPart | OutlinedPart>): Promise<WindowStats | undefined> {
    const kind = statsKindOf(query);
    const known = this.#merged.get(parts[0]!) ?? [];
    const isSame = (one: Merged) =>
      one.kind === kind && one.parts.length === parts.length && one.parts.every((part, i) => part === parts[i]);
    let found = known.find(isSame);
    if (!found) {
      found = { kind, parts, answer: mergedOutlines(parts, query, this.#settings.nan) };
      this.#merged.set(parts[0]!, [...known, found]);
    }
    return found.answer;
  }

  #answer<Options extends WindowOptions, Query extends WindowQuery, Part, Answer extends Degradable>(
    operation: string,
    options: Options,
    queryOf: (options: Options, retentionMs: number) => Query,
    partOf: PartOf<Query, Part>,
    merged: (parts: readonly Part[], query: Query, nan: NanPolicy) => Answer,
  ): Promise<Answer> {
    return this.#asked(operation, options, queryOf, partOf, ({ parts, query, missingShare }) =>
      degrade(merged(parts, query, this.#settings.nan), missingShare),
    );
  }

  /** The same for an answer that cannot say that it is degraded. Rejects with UNAVAILABLE if a part is missing. */
  #whole<Options extends WindowOptions, Query extends WindowQuery, Part, Answer>(
    operation: string,
    options: Options,
    queryOf: (options: Options, retentionMs: number) => Query,
    partOf: PartOf<Query, Part>,
    answerOf: (parts: readonly Part[], query: Query) => Answer,
  ): Promise<Answer> {
    const answered = (found: Parts<Query, Part>) => {
      checkWhole(found);
      return answerOf(found.parts, found.query);
    };
    return this.#asked(operation, options, queryOf, partOf, answered, false);
  }

  /** Checks the options, asks each shard, and answers from their parts. */
  #asked<Options extends WindowOptions, Query extends WindowQuery, Part, Answer>(
    operation: string,
    options: Options,
    queryOf: (options: Options, retentionMs: number) => Query,
    partOf: PartOf<Query, Part>,
    answerOf: (found: Parts<Query, Part>) => Answer,
    reportsDegraded = true,
  ): Promise<Answer> {
    const answer = async (query: Query) => answerOf(await this.#parts(query, partOf, { reportsDegraded }));
    return this.#ask(operation, options, queryOf, answer);
  }

  #ask<Options extends WindowOptions, Query extends WindowQuery, Answer>(
    operation: string,
    options: Options,
    queryOf: (options: Options, retentionMs: number) => Query,
    answer: (query: Query) => Promise<Answer>,
  ): Promise<Answer> {
    const asked = async () => {
      const query = queryOf(options, this.retentionMs);
      checkUnaborted(options?.signal);
      this.#shards.checkAskable();
      return abortable(answer(query), options?.signal);
    };
    return this.#site.run(operation, asked, "no"); // a query changes nothing
  }

  async #parts<Query extends WindowQuery, Part>(
    asked: Query,
    partOf: PartOf<Query, Part>,
    how: Asking,
  ): Promise<Parts<Query, Part>> {
    let query = asked;
    if (this.#settings.clock === 1 && query.atMs === undefined) {
      const latest = (view: WindowView, _: number, toMs: number) => ({ toMs: view.latestMs ?? toMs });
      const { parts } = await this.#partsOf(query, latest, how, "latest");
      const atMs = Math.max(...parts.map(({ toMs }) => toMs));
      if (atMs > Number.NEGATIVE_INFINITY) query = { ...query, atMs };
    }
    return { query, ...(await this.#partsOf(query, partOf, how, "part")) };
  }

  async #partsOf<Query extends WindowQuery, Part>(
    query: Query,
    partOf: PartOf<Query, Part>,
    { after, mayOutline = false, reportsDegraded = true }: Asking,
    name: string,
  ): Promise<Answers<Part>> {
    const stats = mayOutline ? (query as unknown as StatsQuery) : undefined;
    // With outlines, what is searched depends on the percentiles, but not what a shard answers.
    const kind = stats ? `${name} ${kindOf(query)} ${stats.percentiles.length > 0}` : {};
    const found = await this.#shards.ask((shard) => {
      const part = (view: WindowView, fromMs: number, toMs: number) => partOf(view, fromMs, toMs, query);
      const asked = { afterBatch: shard === after?.shard ? after.batch : 0, stats, reportsDegraded };
      return shard.loop.exact.compute(query, kind, part, reportsDegraded, asked);
    }, after?.shard);
    // It is written. The next question does not wait for it, because in Workers another loop may get it.
    if (after) after.batch = 0;
    return found;
  }
}
