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

/** A number of permits of one window. The window keeps the edges of its first caller, and is remembered for a day after it. */
export class CalendarQuota implements Law {
  #kept: (Window & { calendar: string; permits: number }) | undefined;
  #now!: Window & { permits: number };
  #nowMs = 0;
  #terms!: Terms;

  look(nowMs: number, terms: Terms): void {
    const asked = windowOf(nowMs, terms.calendar!);
    if (this.#kept && nowMs > this.#kept.toMs + DAY_MS) this.#kept = undefined;
    this.#nowMs = nowMs;
    this.#terms = terms;
    this.#now = { ...asked, permits: 0 };
    const kept = this.#kept;
    if (!kept) return;
    if (kept.calendar !== nameOf(terms)) {
      // Another calendar. All permits were taken since the kept window began.
      if (kept.fromMs >= asked.fromMs) this.#now.permits = kept.permits;
    } else if (nowMs < kept.toMs) this.#now = { fromMs: kept.fromMs, toMs: kept.toMs, permits: kept.permits };
    else if (asked.fromMs < (kept.fromMs + kept.toMs) / 2) this.#now.permits = kept.permits;
  }

  free(): number {
    return this.#terms.limit - this.#now.permits;
  }

  waitMs(permits: number): number {
    return permits > this.#terms.limit ? Number.POSITIVE_INFINITY : this.#now.toMs - this.#nowMs;
  }

  resetMs(): number {
    return this.#now.permits > 0 ? this.#now.toMs - this.#nowMs : 0;
  }

  take(permits: number): void {
    this.#keep(this.#now.permits + permits);
  }

  back(permits: number): void {
    this.#keep(Math.max(0, this.#now.permits - permits));
  }

  #keep(permits: number): void {
    this.#now.permits = permits;
    if (permits > 0 || this.#kept) this.#kept = { ...this.#now, calendar: nameOf(this.#terms) };
  }

  release(): void {}
}

/** The zone has no part in it. */
function nameOf({ calendar }: Terms): string {
  return `${calendar!.every} ${calendar!.startsAt}`;
}
