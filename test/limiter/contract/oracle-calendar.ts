import type { CalendarTerms, Law, Terms } from "./oracle-law.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

interface Window {
  fromMs: number;
  toMs: number;
}

/** The window that holds an instant, in a zone whose clocks never change: read day by day. */
function windowOf(nowMs: number, { every, startsAt, aheadMs }: CalendarTerms): Window {
  const shiftMs = aheadMs - (every === "day" ? startsAt * 60 * MINUTE_MS : 0);
  const begins = (date: number) => {
    const at = new Date(date);
    if (every === "week") return (at.getUTCDay() || 7) === startsAt;
    return every === "day" || at.getUTCDate() === startsAt;
  };
  let from = Math.floor((nowMs + shiftMs) / DAY_MS) * DAY_MS;
  while (!begins(from)) from -= DAY_MS;
  let to = from + DAY_MS;
  while (!begins(to)) to += DAY_MS;
  return { fromMs: from - shiftMs, toMs: to - shiftMs };
}

/** A window that has begun: its permits, and those since one edge. */
interface Kept {
  calendar: string;
  toMs: number;
  permits: number;
  edgeMs: number;
  since: number;
}

/**
 * A number of permits of one window, which keeps its end. Those since the begin of the caller's own window count until the end of that
 * one, too. They are known from one edge on, the last that a caller with another end named. Of an earlier edge all count, unless none
 * was taken since. Remembered until no window of any zone can hold the last permit.
 */
export class CalendarQuota implements Law {
  #kept: Kept | undefined;
  #takenMs = 0;
  #forgottenMs = 0;
  #now!: Kept;
  #own!: Window;
  #nowMs = 0;
  #limit = 0;

  look(nowMs: number, { limit, calendar }: Terms): void {
    const own = windowOf(nowMs, calendar!);
    this.#own = own;
    this.#nowMs = nowMs;
    this.#limit = limit;
    if (nowMs > this.#forgottenMs) {
      this.#kept = undefined;
      this.#takenMs = 0;
    }
    this.#now = { calendar: nameOf(calendar!), toMs: own.toMs, permits: 0, edgeMs: own.fromMs, since: 0 };
    const kept = this.#kept;
    if (!kept) return;
    if (kept.calendar !== nameOf(calendar!)) {
      // Another calendar. All permits were taken since the kept window began.
      if (kept.edgeMs >= own.fromMs) this.#now.permits = this.#now.since = kept.permits;
    } else if (nowMs >= kept.toMs) {
      this.#now.permits = this.#since(own.fromMs);
      this.#now.edgeMs = Math.max(own.fromMs, kept.toMs);
    } else if (own.toMs === kept.toMs) this.#now = { ...kept };
    else {
      const edgeMs = own.toMs < kept.toMs ? own.toMs : own.fromMs;
      this.#now = { ...kept, edgeMs, since: this.#since(edgeMs) };
    }
  }

  #since(edgeMs: number): number {
    if (edgeMs > this.#takenMs) return 0;
    return edgeMs >= this.#kept!.edgeMs ? this.#kept!.since : this.#kept!.permits;
  }

  free(): number {
    return this.#limit - this.#now.permits;
  }

  /** When no more than some permits count. */
  #fallsToMs(most: number): number {
    const { toMs, permits, since } = this.#now;
    if (permits <= most) return this.#nowMs;
    return this.#own.toMs > toMs && since > most ? this.#own.toMs : toMs;
  }

  waitMs(permits: number): number {
    return permits > this.#limit ? Number.POSITIVE_INFINITY : this.#fallsToMs(this.#limit - permits) - this.#nowMs;
  }

  resetMs(): number {
    return this.#fallsToMs(0) - this.#nowMs;
  }

  take(permits: number): void {
    this.#takenMs = Math.max(this.#takenMs, this.#nowMs);
    this.#keep(permits, this.#nowMs >= this.#now.edgeMs ? permits : 0);
  }

  back(permits: number): void {
    if (this.#kept) this.#keep(-permits, -permits);
  }

  #keep(permits: number, since: number): void {
    const now = this.#now;
    now.permits = Math.max(0, now.permits + permits);
    now.since = Math.max(0, now.since + since);
    this.#kept = { ...now };
    const endMs = now.since > 0 ? Math.max(now.toMs, this.#own.toMs) : now.toMs;
    const lengthMs = this.#own.toMs - this.#own.fromMs;
    this.#forgottenMs = Math.max(endMs, this.#takenMs + lengthMs + lengthMs / 8) + DAY_MS;
  }

  release(): void {}
}

/** The zone has no part in it. */
function nameOf({ every, startsAt }: CalendarTerms): string {
  return `${every} ${startsAt}`;
}
