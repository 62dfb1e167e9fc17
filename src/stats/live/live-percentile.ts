import type { NanPolicy } from "../../kernel/nan.ts";
import { interpolate } from "../../kernel/percentile/interpolate.ts";
import { type Order, orderOf } from "../../kernel/percentile/percentile.ts";
import type { Segment } from "../segments/segment.ts";
import type { StatsQuery } from "../window-query.ts";
import { Fold } from "../window-stats.ts";
import { drawBracket } from "./live-bracket.ts";
import { Candidates } from "./live-candidates.ts";
import { LiveWindow } from "./live-window.ts";

/** A bracket is this share of the window's ranks on either side, within bounds. */
const SHARE = 1 / 128;
const NARROWEST = 64;

/**
 * One percentile of the window that ends now, kept up to date: a bracket of candidates around its rank, drawn anew from
 * the sorted runs when the rank has left it. An answer costs one step per event that came or went since the last.
 */
export class LivePercentile {
  readonly #p: number;
  readonly #query: StatsQuery;
  readonly #nan: NanPolicy;
  readonly #widest: number;
  /** Times are whole ms: the first one inside is so far back from now. */
  readonly #reachMs: number;
  readonly #candidates = new Candidates();
  readonly #window: LiveWindow;
  #order: Order = { lower: 0, upper: 0, weight: 0, taken: true };
  #orderCount = 0;
  /** Given when the window held `count` events. */
  #answer = Number.NaN;
  #count = -1;

  /** `widest`: ranks on either side; `mostChanges`: events that may come, or go, between two answers. */
  constructor(p: number, query: StatsQuery, nan: NanPolicy, widest: number, mostChanges: number) {
    this.#p = p;
    this.#query = query;
    this.#nan = nan;
    this.#widest = widest;
    this.#reachMs = query.spanMs - (query.closed === "both" ? 0 : 1);
    this.#window = new LiveWindow(this.#candidates, mostChanges);
  }

  /** False when what is inside does not follow from the order of arrival. */
  begin(segments: readonly Segment[], nowMs: number): boolean {
    if (!this.#window.begin(segments, nowMs - this.#reachMs, nowMs)) return false;
    const fold = this.#fold(segments, nowMs);
    this.#window.count = fold.count;
    this.#candidates.nanCount = fold.nanCount;
    return true;
  }

  /** The percentile now; undefined when it is not certain any more, or too many events came or went at once. */
  answer(segments: readonly Segment[], nowMs: number): number | undefined {
    const window = this.#window;
    if (!window.follow(segments, nowMs - this.#reachMs, nowMs)) return undefined;
    // Most events change neither the rank nor what lies around it.
    if (this.#candidates.isUnmoved && window.count === this.#count) return this.#answer;
    this.#count = window.count;
    return this.#select(segments, nowMs);
  }

  #select(segments: readonly Segment[], nowMs: number): number | undefined {
    const candidates = this.#candidates;
    const count = this.#count - candidates.nanCount;
    this.#answer = Number.NaN;
    if (count === 0 || (candidates.nanCount > 0 && this.#nan !== "ignore")) return Number.NaN;
    if (count !== this.#orderCount) this.#order = orderOf(this.#query.method, count, this.#p);
    this.#orderCount = count;
    const order = this.#order;
    if (!candidates.seek(order.lower, order.upper === order.lower) && !this.#draw(segments, nowMs)) return undefined;
    const { value, next } = candidates;
    this.#answer = value === next ? value : interpolate(order, value, next);
    return this.#answer;
  }

  #draw(segments: readonly Segment[], nowMs: number): boolean {
    const fold = this.#fold(segments, nowMs);
    if (fold.count !== this.#window.count || fold.nanCount !== this.#candidates.nanCount) return false;
    const { lower, upper } = this.#order;
    const width = Math.min(this.#widest, Math.max(NARROWEST, Math.ceil(fold.validCount * SHARE)));
    // A rank that left on one side goes on there: three quarters of what lies behind are given to what lies ahead.
    const ahead = Math.ceil((this.#candidates.missed * 3 * width) / 4);
    const [first, last] = [lower - width + ahead, upper + width + ahead];
    this.#candidates.load(drawBracket(fold.runs, fold.validCount, first, last));
    return this.#candidates.seek(lower, upper === lower);
  }

  #fold(segments: readonly Segment[], nowMs: number): Fold {
    const fold = new Fold();
    for (const segment of segments) segment.collect(fold, nowMs - this.#query.spanMs, nowMs, this.#query.closed);
    return fold;
  }
}
