import { abortable } from "../../base/async/aborts.ts";
import { checkUnaborted, type OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import { warn } from "../../base/warn.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { providePairs } from "../kernel/blocks/choose.ts";
import { eachPair, pairCodec } from "../kernel/blocks/pairs.ts";
import { checkRecordOptions, type Recorded, type RecordOptions } from "../series/series-options.ts";
import type { CommitLoop } from "../series/session/commit-loop.ts";
import { provideRuns } from "../stats/segments/segment.ts";
import type { DefaultPercentiles, WindowOptions } from "../stats/window-query.ts";
import { checkedPair, type GroupSettings } from "./group-options.ts";
import { type Labels, OwnGroups } from "./labels.ts";
import { LateRun } from "./late-run.ts";
import {
  firstRows,
  type GroupRows,
  type GroupStatsOptions,
  type PercentileOf,
  type RowMeasure,
  type RowsQuery,
  rowsQuery,
  type TopOptions,
  topQuery,
} from "./rows.ts";

/** Where the events of a group are: in one journal, or in shards. */
export interface GroupEvents {
  /** The loop that takes the next event. Throws UNAVAILABLE once the group is closed. */
  readonly loop: CommitLoop;
  /** Throws UNAVAILABLE if a question can no longer be asked. */
  checkAskable(): void;
  /** Whether the store keeps a group, as far as this process knows. */
  keeps(values: readonly string[]): boolean;
  rows(query: RowsQuery): Promise<GroupRows>;
  delete(): Promise<void>;
  close(): Promise<void>;
}

/** The calls of `SeriesGroup` and `ShardedSeriesGroup`. */
export class GroupCalls<Names extends readonly string[]> {
  readonly name: string;
  readonly retentionMs: number;
  /** The declared labels. */
  readonly labels: Names;
  /** Passes each event that the store has, with the values of its labels: those of one group are always the same array. */
  declare readonly [tap]: (listener: (value: number, values: readonly string[]) => void) => void;
  readonly #site: Site;
  readonly #store: Store;
  readonly #settings: GroupSettings;
  readonly #own: OwnGroups;
  readonly #events: GroupEvents;

  /**
   * @internal `store`: hears of errors that no caller waits for. `eventsOf`: gets the groups that this process has seen, and a function to call
   * when one is not kept.
   */
  constructor(
    site: Site,
    store: Store,
    name: string,
    settings: GroupSettings,
    eventsOf: (own: OwnGroups, onFull: (maxGroups?: number) => void) => GroupEvents,
  ) {
    const { labels, maxGroups, series } = settings;
    this.#site = site;
    this.#store = store;
    this.name = name;
    this.#settings = settings;
    this.labels = labels as unknown as Names;
    this.retentionMs = series.retentionMs;
    let isFull = false;
    const onFull = (most = maxGroups) => {
      if (!isFull) warn(`${site.name} has ${most} groups; the events of all others count as _other`);
      isFull = true;
    };
    const own = new OwnGroups(labels, maxGroups, (values) => this.#events.keeps(values), onFull);
    this.#own = own;
    this.#events = eventsOf(own, onFull);
    providePairs(pairCodec);
    provideRuns((arrived, isTransient) => new LateRun(arrived, isTransient));
    this[tap] = (listener) =>
      series.written.add((pairs) => eachPair(pairs, (value, number) => listener(value, own.values[number]!)));
  }

  /**
   * Records one event of the group with these labels: one value for each declared label. All events recorded during a round trip share
   * the next one. Rejects with ARGUMENT for other labels, or a value of a label above 128 bytes.
   */
  record(value: number, labels: Labels<Names[number]>, options?: RecordOptions): Promise<Recorded> {
    return this.#site.traced("record", () => {
      try {
        if (options) return this.#putWith(value, labels, options);
        return this.#events.loop.put(this.#pairOf(value, labels)).written;
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
      if (options) this.#putWith(value, labels, options).catch((error) => this.#unobserved(error, 1));
      else this.#events.loop.put(this.#pairOf(value, labels)).observe(this.#unobserved);
    } catch (error) {
      this.#unobserved(error, 1);
    }
  }

  #putWith(value: number, labels: Labels, options: RecordOptions): Promise<Recorded> {
    const pair = this.#pairOf(value, labels);
    checkRecordOptions(options);
    const loop = this.#events.loop;
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
      return this.#events.rows(query) as Promise<GroupRows<By[number], P[number]>>;
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
      const { rows, ...rest } = await this.#events.rows(query);
      return { ...rest, rows: firstRows(rows, query) } as GroupRows<By[number], P[number] | PercentileOf<Measure>>;
    });
  }

  /** Deletes all events, as `Series.delete` does. The names of the groups stay. */
  delete(): Promise<void> {
    return this.#site.run("delete", () => this.#events.delete());
  }

  /** Waits for events that are being recorded and frees all memory. The store stays open. */
  close(): Promise<void> {
    return this.#site.run("close", () => this.#events.close());
  }

  #asked<T>(operation: string, options: WindowOptions | undefined, ask: () => Promise<T>): Promise<T> {
    const query = () => {
      checkUnaborted(options?.signal);
      this.#events.checkAskable();
      return abortable(ask(), options?.signal);
    };
    return this.#site.run(operation, query, "no"); // a query changes nothing
  }

  readonly #unobserved = (error: unknown, count: number): void => {
    this.#store.report?.({ error: this.#site.outer("observe", error) as OrielError, count });
  };
}
