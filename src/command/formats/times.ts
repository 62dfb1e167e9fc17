/** Fractions of a second have any length: PostgreSQL writes up to 6 digits, pandas 9, and a zone may lack its minutes. */
const ISO =
  /^(\d{4})([-/])(\d\d)\2(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?(?: ?([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?))?)?$/;
const LOG = /^\[?(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\]?$/;
const EPOCH = /^(-?)(\d{1,15})(?:\.(\d{1,12}))?$/;
/** 20260131, 202601312359 and 20260131235959: a date without signs. As a number of seconds or ms it is in 1970, 1976 or 2612. */
const CALENDAR = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** An epoch number below this is seconds (until the year 5138), otherwise ms (since March 1973). */
const FIRST_EPOCH_MS = 1e11;
const EPOCH_BOUND_MS = 1e14;
/** A number between these is likely to be a time: September 2001 to December 2099. */
const LIKELY_FROM_MS = 1e12;
const LIKELY_TO_MS = 4.1e12;
/** The days of 2000 to 2099, as spreadsheets and `julianday` of SQLite count them. */
const SPREADSHEET_DAYS: [number, number] = [36_526, 73_051];
const JULIAN_DAYS: [number, number] = [2_451_544, 2_488_070];
const MAX_ZONE_HOURS = 15;

/**
 * Whole ms since 1970 (fractions floored) of ISO 8601, `YYYY-MM-DD hh:mm:ss` or with slashes (UTC by default), epoch
 * seconds or ms, or an access log's `[17/May/2015:10:05:03 +0000]`. NaN for other texts, for dates that do not exist, and
 * for numbers that are dates without signs.
 */
export function parseTimeMs(text: string): number {
  const iso = ISO.exec(text);
  if (iso) {
    const [, year, , month, day, hour, minute, second, fraction, zone] = iso;
    const ms = Number((fraction ?? "").padEnd(3, "0").slice(0, 3));
    return utcMs(year, Number(month) - 1, day, hour, minute, second) + ms - zoneMs(zone);
  }
  const log = LOG.exec(text);
  if (log) {
    const [, day, month, year, hour, minute, second, zone] = log;
    return utcMs(year, MONTHS.indexOf(month as string), day, hour, minute, second) - zoneMs(zone);
  }
  return epochMs(text);
}

/**
 * What times may be that were read as seconds since 1970: days of a spreadsheet or Julian days of this century. Undefined if
 * they can hardly be anything else than they were read as.
 */
export function otherDays(timesMs: readonly number[]): string | undefined {
  const areAll = ([from, to]: [number, number]) => timesMs.every((ms) => ms >= from * 1000 && ms < to * 1000);
  if (timesMs.length === 0) return undefined;
  return areAll(SPREADSHEET_DAYS) ? "days of a spreadsheet" : areAll(JULIAN_DAYS) ? "Julian days" : undefined;
}

/** True for a time that is no number. */
export function isDate(text: string): boolean {
  return !EPOCH.test(text) && !Number.isNaN(parseTimeMs(text));
}

/** True for a text that can hardly be anything but a time: a date, or a number between 2001 and 2099. */
export function isLikelyTime(text: string): boolean {
  const atMs = EPOCH.test(text) ? epochMs(text) : Number.NaN;
  return isDate(text) || (atMs >= LIKELY_FROM_MS && atMs < LIKELY_TO_MS);
}

function utcMs(year = "", monthIndex: number, day = "", hour = "0", minute = "0", second = "0"): number {
  const date = new Date(0);
  date.setUTCFullYear(Number(year), monthIndex, Number(day));
  const exists = date.getUTCMonth() === monthIndex && date.getUTCDate() === Number(day);
  if (!exists || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  return date.getTime() + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1000;
}

function zoneMs(zone = "Z"): number {
  if (!/\d/.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", ""));
  if (hours > MAX_ZONE_HOURS || minutes > 59) return Number.NaN;
  return (zone[0] === "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** From the digits, not by multiplying: 1400000000.123 s is 1400000000123 ms. */
function epochMs(text: string): number {
  const match = EPOCH.exec(text);
  if (!match || CALENDAR.test(text)) return Number.NaN;
  const [, sign, whole, fraction = ""] = match;
  const inMs = Number(whole) >= FIRST_EPOCH_MS;
  const size = inMs ? Number(whole) : Number(whole) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
  if (size >= EPOCH_BOUND_MS) return Number.NaN;
  if (sign !== "-") return size;
  const cut = inMs ? fraction : fraction.slice(3);
  return -size - (/[1-9]/.test(cut) ? 1 : 0);
}
