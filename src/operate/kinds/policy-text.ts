import { asTyped, whole } from "../format.ts";

/** A policy as a limiter announces it. It is foreign: a process of another version may leave something out. */
interface AnnouncedPolicy {
  readonly name?: unknown;
  readonly kindName?: unknown;
  readonly limit?: unknown;
  readonly spanMs?: unknown;
  /** Of gcra: the permits per span. Its `limit` is the burst. */
  readonly rate?: unknown;
  readonly isShadow?: unknown;
  /** Of a calendar window. */
  readonly calendar?: unknown;
}

/** A calendar window as it is announced. */
interface AnnouncedCalendar {
  readonly every?: unknown;
  readonly timeZone?: unknown;
  readonly startsAt?: unknown;
}

const UNITS = new Map([
  [1000, "a second"],
  [60_000, "a minute"],
  [3_600_000, "an hour"],
  [86_400_000, "a day"],
]);

/** The quota of a policy: "100 a minute", "10 a second, burst 20", "6 at once, lease 30s", "1,000 a month from 15, UTC". */
export function quotaText(policy: unknown): string {
  const { kindName, limit, spanMs, rate, calendar } = Object(policy) as AnnouncedPolicy;
  if (typeof limit !== "number") return "";
  if (kindName === "calendar-window") return `${whole(limit)} ${calendarText(Object(calendar))}`;
  const span = typeof spanMs === "number" && spanMs > 0 ? spanMs : undefined;
  if (kindName === "concurrency")
    return `${whole(limit)} at once${span === undefined ? "" : `, lease ${asTyped(span)}`}`;
  const hasBurst = kindName === "gcra" && limit > 0 && typeof rate === "number";
  const per = span === undefined ? "" : ` ${UNITS.get(span) ?? `per ${asTyped(span)}`}`;
  return `${whole(hasBurst ? rate : limit)}${per}${hasBurst ? `, burst ${whole(limit)}` : ""}`;
}

/** "a day from 6:00, Europe/Berlin". Starts at midnight, on a Monday or on the first of a month are not named. */
function calendarText({ every, timeZone, startsAt }: AnnouncedCalendar): string {
  const isUsual = startsAt === (every === "day" ? 0 : 1);
  const start = isUsual || typeof startsAt !== "number" ? "" : ` from ${every === "day" ? `${startsAt}:00` : startsAt}`;
  return `a ${every}${start}, ${timeZone}`;
}

/** A policy in one line: "sliding-window 100 a minute", "per-user: gcra 10 a second, burst 20, shadow". */
export function policyText(policy: unknown): string {
  const { name, kindName, isShadow } = Object(policy) as AnnouncedPolicy;
  const label = name === undefined || name === kindName ? "" : `${name}: `;
  const quota = quotaText(policy);
  return `${label}${kindName ?? "?"}${quota === "" ? "" : ` ${quota}`}${isShadow === true ? ", shadow" : ""}`;
}
