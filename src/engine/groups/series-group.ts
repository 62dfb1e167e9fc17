import { abortable } from "../../base/async/aborts.ts";
import { Beside } from "../../base/async/beside.ts";
import { untilEnded } from "../../base/async/within.ts";
import { checkUnaborted, type OrielError } from "../../base/errors.ts";
import { type Site, siteOf } from "../../base/site.ts";
import { warn } from "../../base/warn.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { register } from "../../store/registry/register.ts";
import { ServerTime } from "../journal/replica/last-seen.ts";
import { providePairs } from "../kernel/blocks/choose.ts";
import { eachPair, pairCodec } from "../kernel/blocks/pairs.ts";
import type { WindowView } from "../series/pending-query.ts";
import { checkRecordOptions, type Recorded, type RecordOptions } from "../series/series-options.ts";
import { CommitLoop } from "../series/session/commit-loop.ts";
import { type DefaultPercentiles, kindOf, type WindowOptions } from "../stats/window-query.ts";
import { GroupNames } from "./group-names.ts";
import { checkedPair, type GroupSettings, groupSettings, type SeriesGroupOptions } from "./group-options.ts";
import { GroupedWindow } from "./grouped-window.ts";
import { type Labels, OwnGroups } from "./labels.ts";
import { NumberedAppends } from "./numbered-appends.ts";
import {
  firstRows,
  type GroupRows,
  type GroupStatsOptions,
  type PercentileOf,
  type RowMeasure,
  type RowsQuery,
  rowsOf,
  rowsQuery,
  type TopOptions,
  topQuery,
} from "./rows.ts";

/** A question reads events and names again this often while a new group appears between them. The rest then counts as `_other`. */
const MAX_ATTEMPTS = 8;
const NOTHING_PROVEN = { since: undefined, generation: 0, count: 0 };

/**
 * Events with labels, of many processes under one name, and exact statistics of any union of their groups over any window: the p99 of
 * each route, for instance. A group is all events with the same labels. Its events are those of a `Series` of float32 values, and a
 * number for each. What `Series` promises of its events holds here too.
 */
export class SeriesGroup<const Names extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly retentionMs: number;
  /** The declared labels. */
  readonly labels: Names;
  /** Passes each event that the store has, with the values of its labels: those of one group are always the same array. */
  declare readonly [tap]: (listener: (value: number, values: readonly string[]) => void) => void;
  readonly #store: Store;
  readonly #site: Site;
  readonly #settings: GroupSettings;
  readonly #own: OwnGroups;
  readonly #names: GroupNames;
  readonly #loops: Beside<CommitLoop>;
  /** The copy of the events that was read last. Numbers up to `count` in it have the names of this generation. */
  #proven: { since: object | undefined; generation: number; count: number } = NOTHING_PROVEN;

  constructor(store: Store, name: string, options: SeriesGroupOptions<Names>) {
    this.#site = siteOf("SeriesGroup", store, name);
    this.name = name;
    this.#store = store;
    this.#settings = this.#site.checked(undefined, () => groupSettings(options));
    const { labels, maxGroups, series, announced } = this.#settings;
    this.labels = labels as Names;
    this.retentionMs = series.retentionMs;
    let isFull = false;
    const onFull = () => {
      if (!isFull) warn(`${this.#site.name} has ${maxGroups} groups; the events of all others count as _other`);
      isFull = true;
    };
    this.#own = new OwnGroups(labels, maxGroups, onFull);
    const { retentionMs, entropy } = series;
    const key = store.keyOf(name);
    this.#names = new GroupNames(store, key, { labels, maxGroups, retentionMs, entropy, onFull });
    const { send: appending } = new NumberedAppends(store, key, this.#names, this.#own);
    providePairs(pairCodec);
    const time = new ServerTime(store.monotonic);
    this.#loops = new Beside(() => new CommitLoop(store, key, { ...series, appending }, time, this.#site));
    this[tap] = (listener) => {
      const { values } = this.#own;
      series.written.add((pairs) => eachPair(pairs, (value, number) => listener(value, values[number]!)));
    };
    register(store, "SeriesGroup", name, this, ...announced);
  }

  /**
   * Records one event of the group with these labels: one value for each declared label. All events recorded during a round trip share
   * the next one. Rejects with ARGUMENT for other labels, or a value of a label above 128 bytes.
   */
  record(value: number, labels: Labels<Names[number]>, options?: RecordOptions): Promise<Recorded> {
    return this.#site.traced("record", () => {
      try {
        return this.#put(value, labels, options);
      } catch (error) {
        return Promise.reject(this.#site.error("record", error));
      }
    });
  }

  /**
   * Records one event and returns nothing: it neither waits nor throws. Errors, also of a wrong argument, go to
   * `store.on("error")`, as those of `Series.observe`.
   */
  observe(value: number, labels: Labels<Names[number]>, options?: RecordOptions): void {
    try {
      if (options) this.#put(value, labels, options).catch((error) => this.#unobserved(error, 1));
      else this.#loops.free.put(this.#pairOf(value, labels)).observe(this.#unobserved);
    } catch (error) {
      this.#unobserved(error, 1);
    }
  }

  #put(value: number, labels: Labels, options: RecordOptions | undefined): Promise<Recorded> {
    const pair = this.#pairOf(value, labels);
    if (!options) return this.#loops.free.put(pair).written;
    checkRecordOptions(options);
    const loop = this.#loops.free;
    const recorded = options.at === undefined ? loop.put(pair).written : loop.putAt(pair, options.at);
    return abortable(
      recorded.catch((error) => {
        throw this.#site.error("record", error);
      }),
      options.signal,
    );
  }

  #pairOf(value: number, labels: Labels): number {
    return checkedPair(value, this.#own.numberOf(labels), this.#settings);
  }

  /**
   * Exact statistics of each row of groups: of each route, with `by: ["route"]`, or of all groups that match, with `by: []`. Rows with
   * most events come first. One request for the events that this process lacks, and one for new names. Rejects with ARGUMENT, and with
   * TOO_LARGE for a window above `maxResidentBytes`.
   */
  stats<const By extends readonly Names[number][] = Names, const P extends readonly number[] = DefaultPercentiles>(
    options: GroupStatsOptions<Names[number], By, P> = {},
  ): Promise<GroupRows<By[number], P[number]>> {
    return this.#asked("stats", options, () => {
      const query = rowsQuery(options, this.labels, this.retentionMs);
      return this.#rows(query) as Promise<GroupRows<By[number], P[number]>>;
    });
  }

  /**
   * The first `n` rows by one of their numbers, largest first: `top(10, { by: "p99", labels: ["route"] })`. Costs what `stats` costs.
   */
  top<
    const By extends readonly Names[number][] = Names,
    const P extends readonly number[] = DefaultPercentiles,
    const Measure extends RowMeasure = "count",
  >(
    n: number,
    options: TopOptions<Names[number], By, P, Measure> = {},
  ): Promise<GroupRows<By[number], P[number] | PercentileOf<Measure>>> {
    return this.#asked("top", options, async () => {
      const query = topQuery(n, options, this.labels, this.retentionMs);
      const { rows, ...rest } = await this.#rows(query);
      return { ...rest, rows: firstRows(rows, query) } as GroupRows<By[number], P[number] | PercentileOf<Measure>>;
    });
  }

  /** Deletes all events, as `Series.delete` does. The names of the groups stay until the retention has passed. */
  delete(): Promise<void> {
    return this.#site.run("delete", () => {
      const loop = this.#loops.free;
      loop.checkOpen();
      return loop.delete();
    });
  }

  /** Waits for events that are being recorded and frees all memory. The store stays open. */
  close(): Promise<void> {
    return this.#site.run("close", async () => {
      await Promise.all(this.#loops.close().map((loop) => untilEnded(loop.close())));
    });
  }

  /**
   * Law: a number is a group if the process knew so before it read the events, and the names are still there afterwards. After a failover
   * it may be another group, in the events or in the names.
   */
  async #rows(query: RowsQuery): Promise<GroupRows> {
    const names = this.#names;
    for (let attempt = 1; ; attempt++) {
      if (names.known.length === 0) await names.refresh();
      const { generation, count } = names;
      const loop = this.#loops.free;
      loop.checkAskable();
      const { age } = loop.online.view;
      const proven = this.#proven;
      if (attempt > 1 || age.since !== proven.since || generation !== proven.generation) age.forget();
      const window = (view: WindowView, fromMs: number, toMs: number) => {
        const events = new GroupedWindow();
        try {
          view.collect(events, fromMs, toMs, query.closed);
        } catch (error) {
          throw asCorrupt(this.#store.keyOf(this.name), error);
        }
        // Never undefined: the view is this one.
        const first = loop.online.view.copy.head?.header.number ?? Number.POSITIVE_INFINITY;
        return { events, fromMs, toMs, first, degradedBy: view.degradedBy(fromMs), since: age.since };
      };
      // Callers of one commit share the window, whatever rows they ask for.
      const found = await loop.exact.compute(query, `groups ${kindOf(query)}`, window);
      let provenCount = proven.count;
      let isNew = true;
      if (found.since !== proven.since) {
        await names.refresh();
        const isSame = generation === names.generation;
        provenCount = isSame ? count : 0;
        isNew = !isSame || count < names.count;
        this.#proven = { since: found.since, generation, count: provenCount };
      }
      if (isNew && found.events.maxNumber > provenCount && attempt < MAX_ATTEMPTS) continue;
      const isOld = found.first < names.known.firstChunk; // its numbers are those of a dictionary that is gone
      const degradedBy = found.degradedBy ?? (isOld ? "lost" : undefined);
      const valuesOf = (number: number) => (isOld || number > provenCount ? undefined : names.valuesOf(number));
      return rowsOf({ ...found, degradedBy, valuesOf }, query, this.labels, this.#settings.nan);
    }
  }

  #asked<T>(operation: string, options: WindowOptions | undefined, ask: () => Promise<T>): Promise<T> {
    const query = () => {
      checkUnaborted(options?.signal);
      this.#loops.free.checkAskable();
      return abortable(ask(), options?.signal);
    };
    return this.#site.run(operation, query, "no"); // a query changes nothing
  }

  readonly #unobserved = (error: unknown, count: number): void => {
    this.#store.report?.({ error: this.#site.outer("observe", error) as OrielError, count });
  };
}
