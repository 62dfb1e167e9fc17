import { Calendar, firstMinuteAt } from "../../base/calendar.ts";
import { argumentError } from "../../base/errors.ts";
import { given, oneOf, settingsOf, text } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import { warn } from "../../base/warn.ts";
import { KIND } from "../../generated/layouts/limiter.ts";
import { PERMITS, POLICY, type Policy, type PolicyCalendar, type PolicyOptions, policy } from "./policies.ts";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;

type Every = PolicyCalendar["every"];
const EVERY: readonly Every[] = ["day", "week", "month"];
const USUAL_DAYS: Record<Every, number> = { day: 1, week: 7, month: 30 };
const STARTS: Record<Every, [least: number, most: number, what: string]> = {
  day: [0, 23, "an hour of the day from 0 to 23"],
  week: [1, 7, "a day of the week from 1 (Monday) to 7 (Sunday)"],
  month: [1, 28, "a day of the month from 1 to 28, which every month has"],
};

/** Options of the policy `calendarWindow`. */
export interface CalendarWindowPolicy extends PolicyOptions {
  /** Permits per window: an integer from 0 (no call passes) to 2^47. */
  limit: number;
  every: "day" | "week" | "month";
  /** A name of the IANA database; default "UTC". All names of one zone are equal. */
  timeZone?: string | undefined;
  /**
   * Of a day its hour, 0 (default) to 23. Of a week its first day, 1 (Monday, default) to 7. Of a month its first day, 1 (default)
   * to 28. A later day is refused, because some months lack it.
   */
  startsAt?: number | undefined;
}

/**
 * A quota of a calendar: at most `limit` permits in each day, week or month of a time zone. Days of 23 and 25 hours are one window
 * each. A start that the zone skips is the minute in which its clock jumped, and of a repeated one the first counts. The store's
 * clock decides which window it is. After a change of the zone permits count until the old window ends, and since the new one began.
 * Takes about 80 bytes per id, up to a day and a window after its window. Throws ARGUMENT.
 */
export function calendarWindow(options: CalendarWindowPolicy): Policy {
  return atSite("calendarWindow", () => {
    const { every, timeZone, startsAt, ...rest } = settingsOf(
      {
        ...{ limit: PERMITS, every: [oneOf, undefined, ...EVERY], timeZone: [text, "UTC"] },
        ...{ startsAt: [given<number | undefined>], ...POLICY },
      },
      options,
    );
    const spanMs = USUAL_DAYS[every] * DAY_MS;
    const calendar = calendarOf(every, timeZone, startOf(every, startsAt));
    const own = policy({ ...rest, spanMs }, "calendar-window", KIND.calendar, rest.limit, 0);
    return Object.freeze({ ...own, calendar });
  });
}

function startOf(every: Every, startsAt: number | undefined): number {
  const [least, most, what] = STARTS[every];
  if (startsAt === undefined) return least;
  if (!Number.isInteger(startsAt) || startsAt < least || startsAt > most)
    throw argumentError("startsAt", startsAt, what);
  return startsAt;
}

const calendars = new Map<string, QuotaCalendar>();
const MAX_CALENDARS = 1000;
/** Zones of which this process was warned. */
const warned = new Set<string>();

/** Equal policies share one, because a function of the id may make them anew for each call. */
function calendarOf(every: Every, timeZone: string, startsAt: number): QuotaCalendar {
  const key = `${every} ${startsAt} ${timeZone}`;
  const known = calendars.get(key);
  if (known) return known;
  const made = new QuotaCalendar(every, timeZone, startsAt);
  if (calendars.size >= MAX_CALENDARS) calendars.clear();
  calendars.set(key, made);
  return made;
}

/** The windows of a policy, by this process's rules of the time zone. */
class QuotaCalendar implements PolicyCalendar {
  readonly every: Every;
  readonly timeZone: string;
  readonly startsAt: number;
  terms = { calendar: 0, spanMs: 0, rate: 0 };
  readonly #zone: Calendar;

  constructor(every: Every, timeZone: string, startsAt: number) {
    this.every = every;
    this.timeZone = timeZone;
    this.startsAt = startsAt;
    this.#zone = new Calendar(timeZone);
    this.turnTo(Date.now());
  }

  /** As it is announced. */
  toJSON() {
    const { every, timeZone, startsAt } = this;
    return { every, timeZone, startsAt };
  }

  turnTo(nowMs: number): void {
    const [spanMs, rate] = this.#windowAt(nowMs);
    // The time zone has no part in the number of the calendar, because it has many names.
    this.terms = { calendar: 1 + 32 * EVERY.indexOf(this.every) + this.startsAt, spanMs, rate };
  }

  timesUntil(endMinute: number) {
    const endMs = endMinute * MINUTE_MS;
    const { spanMs, rate } = this.terms;
    const [startMs, ownEndMs] = endMs === rate ? [spanMs, rate] : this.#windowAt(endMs - 1);
    if (endMs !== ownEndMs) this.#warn(endMs, ownEndMs);
    return { resetAtMs: endMs, spanMs: ownEndMs - startMs };
  }

  #warn(endMs: number, ownEndMs: number): void {
    const { timeZone } = this;
    if (warned.has(timeZone)) return;
    warned.add(timeZone);
    const [end, own] = [endMs, ownEndMs].map((ms) => new Date(ms).toISOString());
    warn(
      `calendarWindow: permits were taken in a window that ends at ${end}, and count until then. By this process's rules of ${JSON.stringify(timeZone)} one ends at ${own}: the option timeZone has changed, or other processes have other rules or options`,
    );
  }

  #windowAt(ms: number): [startMs: number, endMs: number] {
    const minute = Math.floor(ms / MINUTE_MS);
    let date = this.#firstDate(minute);
    let endMinute = this.#beginOf(this.#nextDate(date));
    // A clock that was set back over the begin of a window does not begin it again.
    while (endMinute <= minute) {
      date = this.#nextDate(date);
      endMinute = this.#beginOf(this.#nextDate(date));
    }
    return [this.#beginOf(date) * MINUTE_MS, endMinute * MINUTE_MS];
  }

  /** The local date with which the window of a minute begins, as days since 1970. */
  #firstDate(minute: number): number {
    const { every, startsAt } = this;
    const local = minute + this.#zone.offset(minute);
    if (every === "day") return Math.floor((local - startsAt * 60) / DAY_MINUTES);
    const date = Math.floor(local / DAY_MINUTES);
    // 1970 began on a Thursday.
    if (every === "week") return date - ((((date + 4 - startsAt) % 7) + 7) % 7);
    return inMonth(date, new Date(date * DAY_MS).getUTCDate() < startsAt ? -1 : 0, startsAt);
  }

  #nextDate(date: number): number {
    return this.every === "month" ? inMonth(date, 1, this.startsAt) : date + USUAL_DAYS[this.every];
  }

  #beginOf(date: number): number {
    return firstMinuteAt(this.#zone, date * DAY_MINUTES + (this.every === "day" ? this.startsAt * 60 : 0));
  }
}

/** A day of the month that comes some months after a date. */
function inMonth(date: number, months: number, day: number): number {
  const at = new Date(date * DAY_MS);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, day) / DAY_MS;
}
