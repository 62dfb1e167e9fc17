import type { NanPolicy } from "../../kernel/nan.ts";
import { interpolate, type PercentileRanks, percentileRanks } from "../../kernel/percentile/percentile.ts";
import type { Segment } from "../segments/segment.ts";
import type { StatsQuery } from "../window-query.ts";
import { Fold } from "../window-stats.ts";
import { Candidates } from "./candidates.ts";
import { LiveWindow } from "./live-window.ts";
import { rangeOfRanks } from "./value-range.ts";

/** The candidates cover this share of the window's ranks on either side, at least `MIN_WIDTH` ranks. */
const SHARE = 1 / 128;
const MIN_WIDTH = 64;

/**
 * One percentile of the window that ends now, updated with each event. It keeps the candidates around the percentile's
 * rank. If the rank leaves them, it loads others from the sorted runs.
 * Cost: one step per event that entered or left since the last answer.
 */
export class LivePercentile {
  readonly #p: number;
  readonly #query: StatsQuery;
  readonly #nan: NanPolicy;
  readonly #maxWidth: number;
  /** The earliest event inside happened this long ago. Times are whole ms. */
  readonly #reachMs: number;
  readonly #candidates = new Candidates();
  readonly #window: LiveWindow;
  #order: PercentileRanks = { lower: 0, upper: 0, weight: 0, isDiscrete: true };
  #orderCount = 0;
  /** The last answer, and the number of events in its window. */
  #answer = Number.NaN;
  #count = -1;

  /** `maxWidth` and `maxChanges` are those of `LiveLimits`. */
  constructor(p: number, query: StatsQuery, nan: NanPolicy, maxWidth: number, maxChanges: number) {
    this.#p = p;
    this.#query = query;
    this.#nan = nan;
    this.#maxWidth = maxWidth;
    this.#reachMs = query.spanMs - (query.closed === "both" ? 0 : 1);
    this.#window = new LiveWindow(this.#candidates, maxChanges);
  }

  /** Returns false if the events inside are not consecutive in the order of arrival. */
  begin(segments: readonly Segment[], nowMs: number): boolean {
    if (!this.#window.begin(segments, nowMs - this.#reachMs, nowMs)) return false;
    const fold = this.#fold(segments, nowMs);
    this.#window.count = fold.count;
    this.#candidates.nanCount = fold.nanCount;
    return true;
  }

  /** The percentile now. Undefined if too many events entered or left, or one was out of order. */
  answer(segments: readonly Segment[], nowMs: number): number | undefined {
    const window = this.#window;
    if (!window.follow(segments, nowMs - this.#reachMs, nowMs)) return undefined;
    // Most events change neither the rank nor the values at it.
    if (this.#candidates.isUnmoved && window.count === this.#count) return this.#answer;
    this.#count = window.count;
    return this.#select(segments, nowMs);
  }

  #select(segments: readonly Segment[], nowMs: number): number | undefined {
    const candidates = this.#candidates;
    const count = this.#count - candidates.nanCount;
    this.#answer = Number.NaN;
    if (count === 0 || (candidates.nanCount > 0 && this.#nan !== "ignore")) return Number.NaN;
    if (count !== this.#orderCount) this.#order = percentileRanks(this.#query.method, count, this.#p);
    this.#orderCount = count;
    const order = this.#order;
    if (!candidates.seek(order.lower, order.upper === order.lower) && !this.#load(segments, nowMs)) return undefined;
    const { value, next } = candidates;
    this.#answer = value === next ? value : interpolate(order, value, next);
    return this.#answer;
  }

  #load(segments: readonly Segment[], nowMs: number): boolean {
    const fold = this.#fold(segments, nowMs);
    if (fold.count !== this.#window.count || fold.nanCount !== this.#candidates.nanCount) return false;
    const { lower, upper } = this.#order;
    const width = Math.min(this.#maxWidth, Math.max(MIN_WIDTH, Math.ceil(fold.validCount * SHARE)));
    // A rank that has left the candidates on one side will most likely go on to that side. So the candidates are moved by three quarters of
    // the width.
    const ahead = Math.ceil((this.#candidates.missed * 3 * width) / 4);
    const [first, last] = [lower - width + ahead, upper + width + ahead];
    this.#candidates.load(rangeOfRanks(fold.runs, fold.validCount, first, last));
    return this.#candidates.seek(lower, upper === lower);
  }

  #fold(segments: readonly Segment[], nowMs: number): Fold {
    const fold = new Fold();
    for (const segment of segments) segment.collect(fold, nowMs - this.#query.spanMs, nowMs, this.#query.closed);
    return fold;
  }
}
