import { argumentError, OrielError } from "../errors.ts";
import type { Column } from "../kernel/contract.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import { type Clock, type Duration, durationMs, instantMs } from "../time.ts";
import { Brackets } from "./brackets.ts";
import { Fold } from "./fold.ts";
import { chunkMsOf, law } from "./law.ts";
import { Segment } from "./segment.ts";
import { checkNan } from "./series-options.ts";
import { checkValue, columnOf, timesOf } from "./values.ts";
import {
  checkKnown,
  type StatsOptions,
  statsQuery,
  type WindowOptions,
  type WindowQuery,
  windowQuery,
} from "./window-query.ts";
import { fractionOf, statsOf, type WindowStats } from "./window-stats.ts";

export interface LocalSeriesOptions {
  /** Longest span that is ever asked for; default "1h". */
  retention?: Duration;
  values?: "float32" | "float64";
  nan?: NanPolicy;
  /** Ms since 1970; default `Date.now`. */
  clock?: Clock;
}

/**
 * The same windows and statistics as `Series`, of one process, without a store and without promises.
 * Its time does not fall back: when the clock does, it stands still until the clock has caught up.
 * `record` costs some ns; `stats` a fold over some 64 summaries, a filter of what straddles the window's edges and one
 * selection over sorted runs per percentile.
 */
export class LocalSeries {
  readonly #retentionMs: number;
  readonly #valueType: number;
  readonly #nan: NanPolicy;
  readonly #clock: Clock;
  #segments: Segment[] = [];
  #brackets = new Brackets();
  #openedMs = -Infinity;
  #nowMs = -Infinity;

  constructor(options: LocalSeriesOptions = {}) {
    checkKnown(options, ["retention", "values", "nan", "clock"]);
    const { values = "float32", nan = "reject", clock = Date.now } = options;
    if (values !== "float32" && values !== "float64") throw argumentError("values", values, '"float32" or "float64"');
    checkNan(nan);
    if (typeof clock !== "function") throw argumentError("clock", clock, "a function that gives ms since 1970");
    this.#retentionMs = durationMs("retention", options.retention ?? "1h");
    this.#valueType = values === "float64" ? 1 : 0;
    this.#nan = nan;
    this.#clock = clock;
  }

  /** Records one event, at the clock's now or at `at`: LATE when older than the retention, EARLY more than 60 s ahead. */
  record(value: number, options: { at?: number | Date } = {}): void {
    checkKnown(options, ["at"]);
    checkValue(value, this.#valueType, this.#nan);
    const nowMs = this.#advance();
    const atMs = options.at === undefined ? nowMs : this.#checkAt(instantMs("at", options.at), nowMs);
    const segment = this.#open(nowMs);
    const at = segment.reserve(1);
    segment.times[at] = atMs;
    segment.values[at] = value;
    segment.extend(1);
  }

  /** Records events in order; all or, where one is refused, none. */
  recordMany(values: ArrayLike<number>, options: { at?: number | Date | ArrayLike<number> } = {}): void {
    checkKnown(options, ["at"]);
    const column = columnOf(values, this.#valueType, this.#nan);
    const nowMs = this.#advance();
    const times =
      options.at === undefined ? new Float64Array(column.length).fill(nowMs) : timesOf(options.at, column.length);
    for (const t of times) this.#checkAt(t, nowMs);
    const segment = this.#open(nowMs);
    const at = segment.reserve(column.length);
    segment.times.set(times, at);
    segment.values.set(column, at);
    segment.extend(column.length);
  }

  stats(options: StatsOptions = {}): WindowStats {
    const query = statsQuery(options, this.#retentionMs);
    const { fold, fromMs, toMs } = this.#collect(query);
    return statsOf(fold, query, this.#nan, fromMs, toMs, this.#degradedBy(fromMs), this.#brackets);
  }

  /** A copy of the values inside a window, in the order recorded. */
  values(options: WindowOptions = {}): Column {
    const query = windowQuery(options, this.#retentionMs);
    const toMs = query.atMs ?? this.#advance();
    const total = this.#segments.reduce((sum, segment) => sum + segment.count, 0);
    const all = this.#valueType === 1 ? new Float64Array(total) : new Float32Array(total);
    let at = 0;
    for (const segment of this.#segments) at = segment.copyInside(all, at, toMs - query.spanMs, toMs, query.closed);
    return all.slice(0, at);
  }

  /** The exact share of a window's events that are below `limit`; NaN for an empty window. */
  fractionBelow(limit: number, options: WindowOptions = {}): number {
    if (typeof limit !== "number" || Number.isNaN(limit)) throw argumentError("limit", limit, "a number");
    return fractionOf(this.#collect(windowQuery(options, this.#retentionMs)).fold, limit, this.#nan);
  }

  #collect(query: WindowQuery): { fold: Fold; fromMs: number; toMs: number } {
    const nowMs = this.#advance();
    const toMs = query.atMs ?? nowMs;
    const fromMs = toMs - query.spanMs;
    const fold = new Fold();
    for (const segment of this.#segments) segment.collect(fold, fromMs, toMs, query.closed);
    return { fold, fromMs, toMs };
  }

  #degradedBy(fromMs: number): "retention" | undefined {
    return fromMs < this.#nowMs - this.#retentionMs ? "retention" : undefined;
  }

  #advance(): number {
    this.#nowMs = Math.max(this.#nowMs, Math.floor(this.#clock()));
    return this.#nowMs;
  }

  #open(nowMs: number): Segment {
    let open = this.#segments.at(-1);
    if (open && nowMs - this.#openedMs < chunkMsOf(this.#retentionMs)) return open;
    open?.close();
    this.#segments = this.#segments.filter((segment) => segment.latestMs >= nowMs - this.#retentionMs);
    open = new Segment(this.#valueType);
    this.#segments.push(open);
    this.#openedMs = nowMs;
    return open;
  }

  #checkAt(atMs: number, nowMs: number): number {
    if (atMs > nowMs + law.earlyMs)
      throw new OrielError(
        "EARLY",
        `at is ${atMs - nowMs} ms ahead of the clock; at most ${law.earlyMs} ms are allowed`,
      );
    if (atMs < nowMs - this.#retentionMs)
      throw new OrielError("LATE", `at is ${nowMs - atMs} ms old; the retention is ${this.#retentionMs} ms`);
    return atMs;
  }
}
