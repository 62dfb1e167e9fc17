import { ENDED_LIFE_MS, KIND, MAX_LEVEL } from "../../../generated/layouts/limiter.ts";
import { CountedWindowState } from "./fixed-window.ts";
import type { StateContext } from "./rule.ts";
import { STATE_BYTES, type StoredState } from "./state.ts";

interface StoredCalendarWindow extends StoredState {
  edgeMs: number;
  endMs: number;
  used: number;
  late: number;
  lastMs: number;
  calendar: number;
}

/** Calendar window. The twin of lua/limiter/calendar-window.lua, which states the rules. */
export class CalendarWindowState extends CountedWindowState<StoredCalendarWindow> {
  readonly startMs: number;
  #edgeMs: number;
  #keptMs: number;
  #late = 0;
  #lastMs: number;

  constructor(context: StateContext) {
    super(context, KIND.calendar);
    const { rule, nowMs } = context;
    const { stored } = this;
    this.startMs = this.#edgeMs = rule.spanMs;
    this.#keptMs = rule.rate;
    this.#lastMs = stored?.lastMs ?? 0;
    if (!stored) return;
    if (stored.calendar !== rule.calendar) {
      if (stored.edgeMs >= rule.spanMs) this.used = this.#late = stored.used;
    } else if (nowMs >= stored.endMs) {
      this.used = lateOf(stored, rule.spanMs);
      this.#edgeMs = Math.max(rule.spanMs, stored.endMs);
    } else {
      this.startMs = 0;
      this.#keptMs = stored.endMs;
      this.used = stored.used;
      const isOwn = rule.rate === stored.endMs;
      this.#edgeMs = isOwn ? stored.edgeMs : rule.rate < stored.endMs ? rule.rate : rule.spanMs;
      this.#late = isOwn ? stored.late : lateOf(stored, this.#edgeMs);
    }
  }

  get endMs(): number {
    return this.#late > 0 ? Math.max(this.#keptMs, this.context.rule.rate) : this.#keptMs;
  }

  override waitMs(permits: number): number {
    const { rule, nowMs } = this.context;
    if (permits > rule.limit) return Number.POSITIVE_INFINITY;
    return (this.#late + permits > rule.limit ? this.endMs : this.#keptMs) - nowMs;
  }

  override take(calls: number, cost: number): void {
    const { nowMs } = this.context;
    if (nowMs >= this.#edgeMs) this.#late = Math.min(this.#late + calls * cost, MAX_LEVEL);
    this.#lastMs = Math.max(this.#lastMs, nowMs);
    super.take(calls, cost);
  }

  override giveBack(permits: number): void {
    if (!this.stored) return;
    this.#late = Math.max(0, this.#late - permits);
    super.giveBack(permits);
  }

  write(): void {
    const { used, endMs } = this;
    const { calendar, spanMs, rate } = this.context.rule;
    const own = { edgeMs: this.#edgeMs, endMs: this.#keptMs, late: this.#late, lastMs: this.#lastMs };
    const forgottenMs = Math.max(endMs, this.#lastMs + ((rate - spanMs) * 9) / 8) + ENDED_LIFE_MS;
    this.store({ kind: KIND.calendar, ...own, used, calendar }, forgottenMs, STATE_BYTES);
  }
}

/** The permits since an edge. */
function lateOf({ edgeMs, used, late, lastMs }: StoredCalendarWindow, sinceMs: number): number {
  if (sinceMs > lastMs) return 0;
  return sinceMs >= edgeMs ? late : used;
}
