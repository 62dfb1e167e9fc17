import { abortable } from "../../base/async/aborts.ts";
import { gathering } from "../../base/async/gathering.ts";
import { argumentError, checkUnaborted, OrielError } from "../../base/errors.ts";
import { type Site, siteOf } from "../../base/site.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { spreadKeys } from "../../store/keys.ts";
import { tap } from "../../store/registry/live.ts";
import { register } from "../../store/registry/register.ts";
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
import type { Degraded, WindowStats } from "../stats/window-stats.ts";
import { Agreement } from "./agreement.ts";
import { Shard } from "./shard.ts";
import { type ShardedSeriesOptions, shardSettings } from "./shard-options.ts";
import type { Agreed } from "./steps/agree.ts";

/** Tries if outlines change while their parts are requested. */
const MAX_TRIES = 3;

/** Whether an answer may lack events, and why. */
interface Degradable {
  degraded: boolean;
  degradedBy?: Degraded;
  missingShare?: number;
}

/** The parts of an answer, and the share of the shards that have none. */
interface Parts<Query, Part> {
  parts: readonly Part[];
  query: Query;
  missingShare: number;
  /** Why a shard has none, if one could not be reached. Others are on servers that this process does not know. */
  failure: OrielError | undefined;
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
  readonly #stores: readonly Store[];
  readonly #isList: boolean;
  readonly #site: Site;
  readonly #settings: SeriesSettings;
  readonly #agreement: Agreement;
  /** By their stores and keys. The first ones are those in which this process records. */
  readonly #open = new Map<string, Shard>();
  readonly #own: readonly Shard[];
  /** The shards of each number that was listed. */
  readonly #spreads = new Map<number, readonly Shard[]>();
  /** By the first of their parts. */
  readonly #merged = new WeakMap<object, Merged[]>();
  #turn: Shard | undefined;
  /** Index of the shard of the next turn. */
  #next: number | undefined;
  /** The last answer of each server that lists the spreads. */
  readonly #agreed: Agreed[] = [];

  /** `store`: the store of a cluster, or a list of stores, one for each server. All processes have the same list. */
  constructor(store: Store | readonly Store[], name: string, options: ShardedSeriesOptions = {}) {
    this.#isList = Array.isArray(store);
    this.#stores = this.#isList ? [...(store as readonly Store[])] : [store as Store];
    this.name = name;
    const stores = this.#stores;
    this.#site = siteOf("ShardedSeries", stores[0]!, name);
    for (const [i, each] of stores.entries()) {
      siteOf("ShardedSeries", each, name);
      this.#site.checked(undefined, () => {
        if (stores.indexOf(each) < i)
          throw argumentError(`store ${i + 1} of the list`, each, "another server than those before");
      });
    }
    const servers = this.#isList ? stores.length : undefined;
    const { shards, series } = this.#site.checked(undefined, () => shardSettings(options, servers));
    this.shards = shards;
    this.#settings = series;
    const { retentionMs, announced } = this.#settings;
    this.retentionMs = retentionMs;
    this.#agreement = new Agreement(stores, this.#isList, name, this.shards, this.#settings);
    this.#own = this.#shardsOf(this.shards);
    this[tap] = (listener) => void this.#settings.written.add(listener);
    const [shared, own] = announced;
    // In the registry it is a series, whose shards are a setting.
    register(
      stores[0]!,
      "Series",
      name,
      this,
      { ...shared, shards: this.shards },
      { ...own, servers: stores.length > 1 ? stores.length : undefined },
    );
  }

  /** Records one event. All events recorded at one time share the next round trip, to one shard. */
  record(value: number, options?: RecordOptions): Promise<Recorded> {
    if (options) return this.#site.run("record", () => this.#recordWith(value, options));
    return this.#site.traced("record", () => {
      try {
        return this.#chosen().loop.put(value).written;
      } catch (error) {
        return Promise.reject(this.#site.error("record", error));
      }
    });
  }

  /** Records one event and returns nothing: it neither waits nor throws. Errors go where those of `Series.observe` go. */
  observe(value: number, options?: RecordOptions): void {
    try {
      if (!options) this.#chosen().loop.put(value).observe(this.#unobserved);
      else this.#recordWith(value, options).catch((error) => this.#unobserved(error, 1));
    } catch (error) {
      this.#unobserved(error, 1);
    }
  }

  async #recordWith(value: number, options: RecordOptions): Promise<Recorded> {
    checkRecordOptions(options);
    const { at, signal } = options;
    const { loop } = this.#chosen();
    return abortable(at === undefined ? loop.put(value).written : loop.putAt(value, at), signal);
  }

  /** Records events in order, in one shard. A large call is split; its error says how many were written. */
  recordMany(values: ArrayLike<number>, options: RecordManyOptions = {}): Promise<Recorded> {
    return this.#site.run("recordMany", () => {
      checkRecordOptions(options);
      return abortable(this.#chosen().loop.putMany(values, options.at), options.signal);
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
      const shard = this.#chosen();
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
    return this.#site.run("delete", async () => {
      for (const { loop } of this.#own) loop.checkOpen();
      const { shards, unknown } = this.#shardsIn(await this.#agreement.read());
      checkWhole({ missingShare: unknown / (shards.length + unknown), failure: undefined });
      await Promise.all(shards.map((shard) => shard.loop.delete()));
    });
  }

  /** Waits for events that are being recorded and frees all memory. The stores stay open. */
  close(): Promise<void> {
    return this.#site.run("close", async () => {
      await Promise.all([...this.#open.values()].map((shard) => shard.close()));
    });
  }

  /** The shard of all events that are recorded before the loops send what they have. Shards that cannot be reached are left out. */
  #chosen(): Shard {
    if (this.#turn) return this.#turn;
    const { length } = this.#own;
    const first = this.#next ?? this.#settings.entropy() % length;
    let shard = this.#own[first]!;
    for (let i = 1; i < length && !shard.isUp; i++) shard = this.#own[(first + i) % length]!;
    this.#next = (this.#own.indexOf(shard) + 1) % length;
    this.#turn = shard;
    void gathering().then(() => {
      this.#turn = undefined;
    });
    return shard;
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
      for (const { loop } of this.#own) loop.checkAskable();
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
  ): Promise<Omit<Parts<Query, Part>, "query">> {
    const stats = mayOutline ? (query as unknown as StatsQuery) : undefined;
    // With outlines, what is searched depends on the percentiles, but not what a shard answers.
    const kind = stats ? `${name} ${kindOf(query)} ${stats.percentiles.length > 0}` : {};
    const ask = (shard: Shard) => {
      const part = (view: WindowView, fromMs: number, toMs: number) => partOf(view, fromMs, toMs, query);
      const isAfter = shard === after?.shard;
      const asked = { afterBatch: isAfter ? after.batch : 0, stats, reportsDegraded };
      const answer = shard.ask(query, kind, part, asked, !isAfter);
      answer.catch(() => {}); // all are awaited below
      return answer;
    };
    const own = this.#own.map(ask);
    const looked = await this.#agreement.look();
    const { shards, unknown } = this.#shardsIn(looked);
    const others = shards.slice(own.length);
    if (others.length > 0) this.#own[0]!.loop.checkOpen();
    const answers = await Promise.all([...own, ...others.map(ask)]);
    // It is written. The next question does not wait for it, because in Workers another loop may get it.
    if (after) after.batch = 0;
    const failures = answers.filter((answer) => answer instanceof OrielError);
    if (failures.length === answers.length) throw failures[0];
    // Each server of a list has a shard too, which says the same.
    if (looked[0] instanceof OrielError && !this.#isList) failures.push(looked[0]);
    const missing = failures.length + unknown;
    const parts = answers.filter((answer) => !(answer instanceof OrielError)) as Part[];
    return { parts, missingShare: missing / (parts.length + missing), failure: failures[0] };
  }

  /** All shards of the listed spreads, own ones first, and how many there may be that this process does not know. */
  #shardsIn(looked: readonly (Agreed | OrielError)[]): { shards: readonly Shard[]; unknown: number } {
    const shards = new Set(this.#own);
    let unknown = 0;
    for (const [i, agreed] of looked.entries()) {
      if (!(agreed instanceof OrielError)) this.#agreed[i] = agreed;
      const { spreads, isPlain } = this.#agreed[i] ?? NOTHING_ELSE;
      for (const { shards: number, position } of spreads) {
        if (position === 0 && !this.#isList) for (const shard of this.#shardsOf(number)) shards.add(shard);
        else if (position === 0 || !this.#isList) unknown = Math.max(unknown, number);
        else unknown = Math.max(unknown, number - this.shards);
      }
      const store = this.#stores[i]!;
      if (isPlain) shards.add(this.#shardAt(store, store.keyOf(this.name)));
    }
    return { shards: [...shards], unknown };
  }

  #shardsOf(number: number): readonly Shard[] {
    let shards = this.#spreads.get(number);
    if (!shards) {
      const of = (store: Store, count: number) =>
        spreadKeys(store, this.name, WHAT, count).map((key) => this.#shardAt(store, key));
      shards = this.#isList ? this.#stores.flatMap((store) => of(store, 1)) : of(this.#stores[0]!, number);
      this.#spreads.set(number, shards);
    }
    return shards;
  }

  #shardAt(store: Store, key: string): Shard {
    const id = `${this.#stores.indexOf(store)} ${key}`;
    let shard = this.#open.get(id);
    if (!shard) {
      const time = new ServerTime(store.monotonic);
      const beforeAppend = () => this.#agreement.beforeRecording();
      shard = new Shard((ended) => {
        const settings = { ...this.#settings, beforeAppend, ended };
        return new CommitLoop(store, key, settings, time, this.#site);
      }, store.monotonic);
      this.#open.set(id, shard);
    }
    return shard;
  }

  readonly #unobserved = (error: unknown, count: number): void => {
    this.#stores[0]!.report?.({ error: this.#site.outer("observe", error) as OrielError, count });
  };
}

const NOTHING_ELSE: Agreed = { spreads: [], isPlain: false };
/** Ends the keys of shards. */
const WHAT = "shard";

function degrade<Answer extends Degradable>(answer: Answer, missingShare: number): Answer {
  if (missingShare > 0) Object.assign(answer, { degraded: true, degradedBy: "shards", missingShare });
  return answer;
}

/** Throws if a part is missing from an answer that cannot say so. */
function checkWhole({ missingShare, failure }: Pick<Parts<unknown, unknown>, "missingShare" | "failure">): void {
  if (missingShare === 0) return;
  const percent = Math.ceil(100 * missingShare);
  if (!failure)
    throw new OrielError("MISMATCH", `${percent} % of the shards are on servers that this process does not know`);
  throw new OrielError("UNAVAILABLE", `${percent} % of the shards cannot be reached`, {
    transient: true,
    cause: failure,
  });
}
