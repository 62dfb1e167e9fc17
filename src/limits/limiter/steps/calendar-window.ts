import { ENDED_LIFE_MS, KIND } from "../../../generated/layouts/limiter.ts";
import { CountedWindowState } from "./fixed-window.ts";
import type { StateContext } from "./rule.ts";
import { STATE_BYTES, type StoredState } from "./state.ts";

interface StoredCalendarWindow extends StoredState {
  startMs: number;
  endMs: number;
  used: number;
  calendar: number;
}

/** Calendar window. The twin of lua/limiter/calendar-window.lua, which states the rules. */
export class CalendarWindowState extends CountedWindowState<StoredCalendarWindow> {
  readonly endMs: number;
  readonly startMs: number;

  constructor(context: StateContext) {
    super(context, KIND.calendar);
    const { rule, nowMs } = context;
    const { stored } = this;
    const isSame = stored?.calendar === rule.calendar;
    const goesOn = isSame && nowMs < stored.endMs;
    this.startMs = goesOn ? stored.startMs : rule.spanMs;
    this.endMs = goesOn ? stored.endMs : rule.rate;
    if (!stored) return;
    const counts = isSame ? 2 * rule.spanMs < stored.startMs + stored.endMs : stored.startMs >= rule.spanMs;
    if (goesOn || counts) this.used = stored.used;
  }

  override giveBack(permits: number): void {
    if (this.stored) super.giveBack(permits);
  }

  write(): void {
    const { used, endMs } = this;
    const { calendar } = this.context.rule;
    const value = { kind: KIND.calendar, startMs: this.startMs, endMs, used, calendar };
    this.store(value, endMs + ENDED_LIFE_MS, STATE_BYTES);
  }
}
