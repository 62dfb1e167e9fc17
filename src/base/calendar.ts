import { argumentError } from "./errors.ts";

const MINUTES = { minute: 1, hour: 60, day: 1440 } as const;
/** Length of a bucket of counts: "minute", "hour" or "day". */
export type BucketName = keyof typeof MINUTES;
const BUCKETS = Object.keys(MINUTES) as BucketName[];
const MINUTE_MS = 60_000;
const MAX_REMEMBERED = 4096;
const WEEK_MINUTES = 10_080;
/** No zone has ever been further from UTC. */
const MAX_OFFSET_MINUTES = 16 * 60;
const LAST_COMPARED_MINUTE = Date.UTC(2040, 0) / MINUTE_MS;

/** The bucket names in order from fine to coarse, without duplicates. Throws ARGUMENT. */
export function checkBuckets(buckets: unknown): BucketName[] {
  if (!Array.isArray(buckets) || buckets.length === 0 || !buckets.every((one) => BUCKETS.includes(one)))
    throw argumentError("buckets", buckets, `one or more of ${BUCKETS.join(", ")}`);
  return BUCKETS.filter((one) => buckets.includes(one));
}

/**
 * The starts of minutes, hours and days in a time zone, in whole minutes since 1970 (UTC). An hour starts at the
 * instant's minute minus the local minutes past the hour. A day starts at the first minute of its local date. Days of
 * 23 and 25 hours, and both parts of a repeated hour, are separate buckets. Zone offsets are rounded to whole minutes.
 */
export class Calendar {
  readonly timeZone: string;
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #offsets = new Map<number, number>();

  /** Throws ARGUMENT if the runtime does not know the time zone. */
  constructor(timeZone: string) {
    this.timeZone = timeZone;
    if (timeZone === "UTC") return;
    try {
      const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
      this.#format = new Intl.DateTimeFormat("en-US", { ...parts, timeZone, hourCycle: "h23", era: "short" });
    } catch {
      throw argumentError("timeZone", timeZone, 'a time zone of the IANA database, like "UTC" or "Europe/Berlin"');
    }
  }

  startOf(bucket: BucketName, minute: number): number {
    if (bucket === "minute") return minute;
    const lengthMinutes = MINUTES[bucket];
    const offset = this.offset(minute);
    const start = minute - mod(minute + offset, lengthMinutes);
    if (bucket === "hour" || this.#format === undefined) return start;
    // The clock may have changed since the day began. If midnight was repeated, the day began with the first one. If it
    // was skipped, the day began when the clock jumped.
    const midnight = start + offset;
    const starts = [midnight - this.offset(start - 1440), midnight - this.offset(start + 1440), start];
    const date = this.dateOf(minute);
    return Math.min(...starts.filter((one) => this.dateOf(one) === date && one <= minute));
  }

  /** The number of the local date at an instant's minute. 1970-01-01 is 0. */
  dateOf(minute: number): number {
    return Math.floor((minute + this.offset(minute)) / 1440);
  }

  /** How many minutes local time is ahead of UTC. */
  offset(minute: number): number {
    if (!this.#format) return 0;
    const known = this.#offsets.get(minute);
    if (known !== undefined) return known;
    const parts: Record<string, string> = {};
    for (const { type, value } of this.#format.formatToParts(minute * MINUTE_MS)) parts[type] = value;
    const year = parts.era === "BC" ? 1 - Number(parts.year) : Number(parts.year);
    const local = new Date(0);
    local.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
    local.setUTCHours(Number(parts.hour), Number(parts.minute));
    const offset = local.getTime() / MINUTE_MS - minute;
    if (this.#offsets.size >= MAX_REMEMBERED) this.#offsets.clear();
    this.#offsets.set(minute, offset);
    return offset;
  }
}

/** The local time of an instant's minute: yyyyMMddHHmm. */
export function localDigits(calendar: Calendar, minute: number): string {
  const text = new Date((minute + calendar.offset(minute)) * MINUTE_MS).toISOString();
  return text.replace(/\D/g, "").slice(0, 12);
}

/**
 * The first minute whose local time is `local` or later, in minutes since 1970 as if it were UTC. A repeated time is its
 * first one. A time that was skipped is the minute in which the clock jumped.
 */
export function firstMinuteAt(calendar: Calendar, local: number): number {
  const [from, to] = [local - MAX_OFFSET_MINUTES, local + MAX_OFFSET_MINUTES];
  const first = local - calendar.offset(from);
  if (calendar.offset(from) === calendar.offset(to)) return first;
  const change = changeBetween(calendar, from, to);
  return first < change ? first : Math.max(change, local - calendar.offset(change));
}

/** The minute in which a clock changes. It changes once between the two. */
function changeBetween(calendar: Calendar, from: number, to: number): number {
  const before = calendar.offset(from);
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (calendar.offset(middle) === before) from = middle;
    else to = middle;
  }
  return to;
}

/**
 * True if both zones have had, and will have by the rules of this runtime, the same local time in each minute from 1970
 * to 2040. So names of one zone are the same, whatever the runtime knows about names. Cost: some ten ms.
 */
export function hasSameTimes(one: Calendar, other: Calendar): boolean {
  const isSameAt = (minute: number) => one.offset(minute) === other.offset(minute);
  for (let minute = 0; minute < LAST_COMPARED_MINUTE; minute += WEEK_MINUTES) {
    if (!isSameAt(minute)) return false;
    // Clocks change at most once in a week. Those of both zones change in the same minute.
    let [before, after] = [minute, minute + WEEK_MINUTES];
    if (one.offset(before) === one.offset(after)) continue;
    while (after - before > 1) {
      const between = Math.floor((before + after) / 2);
      if (one.offset(between) === one.offset(minute)) before = between;
      else after = between;
    }
    if (!isSameAt(before) || !isSameAt(after)) return false;
  }
  return true;
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
