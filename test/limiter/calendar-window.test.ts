import { describe, expect, test } from "vitest";
import { calendarWindow } from "../../src/entries/index.ts";
import { Random } from "../simulator/world/random.ts";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
type Every = "day" | "week" | "month";

/** Zones and dates at which their clocks change: at any hour, at midnight, by half an hour, over a whole day, or not at all. */
const CHANGES: [timeZone: string, ...dates: string[]][] = [
  ["UTC", "2026-02-28"],
  ["Europe/Berlin", "2026-03-29", "2026-10-25"],
  ["America/New_York", "2026-03-08", "2026-11-01"],
  ["America/Sao_Paulo", "2018-11-04", "2018-02-18"],
  ["America/St_Johns", "2006-10-29", "2007-03-11"],
  ["Australia/Lord_Howe", "2025-04-06", "2025-10-05"],
  ["Pacific/Apia", "2011-12-30", "2011-04-02"],
  ["Pacific/Kiritimati", "1994-12-31", "2028-02-29"],
  ["Pacific/Kwajalein", "1993-08-21"],
  ["Africa/Cairo", "2024-04-26", "2024-11-01"],
  ["Asia/Tehran", "2022-03-22", "2022-09-22"],
  ["Asia/Kathmandu", "2026-01-01"],
  ["Africa/Casablanca", "2026-02-15", "2026-03-22"],
];

/** The local time of a minute as minutes since 1970, by the runtime's words for each hour, and each minute of one with a change. */
function localOf(timeZone: string) {
  const style = { dateStyle: "short", timeStyle: "short", hourCycle: "h23", timeZone } as const;
  const format = new Intl.DateTimeFormat("sv-SE", style);
  const said = new Map<number, number>();
  const sayOf = (minute: number) => {
    if (!said.has(minute))
      said.set(minute, Date.parse(`${format.format(minute * MINUTE_MS).replace(" ", "T")}Z`) / MINUTE_MS);
    return said.get(minute)!;
  };
  return (minute: number) => {
    const hour = Math.floor(minute / 60) * 60;
    return sayOf(hour + 60) - sayOf(hour) === 60 ? sayOf(hour) + minute - hour : sayOf(minute);
  };
}

/** A number that grows from window to window, by the local time alone. */
function numberOf(local: number, every: Every, startsAt: number): number {
  if (every === "day") return Math.floor(local / DAY_MINUTES - startsAt / 24);
  const date = Math.floor(local / DAY_MINUTES);
  // 1970-01-05 was a Monday.
  if (every === "week") return Math.floor((date - 4 - (startsAt - 1)) / 7);
  const at = new Date(date * DAY_MINUTES * MINUTE_MS);
  return at.getUTCFullYear() * 12 + at.getUTCMonth() - (at.getUTCDate() < startsAt ? 1 : 0);
}

/** The minutes in which a window begins: the first with a later number than all before. */
function edgesOf(timeZone: string, every: Every, startsAt: number, from: number, to: number): number[] {
  const local = localOf(timeZone);
  const edges: number[] = [];
  let last = numberOf(local(from), every, startsAt);
  for (let minute = from + 1; minute <= to; minute++) {
    const number = numberOf(local(minute), every, startsAt);
    if (number > last) edges.push(minute);
    last = Math.max(last, number);
  }
  return edges;
}

const WINDOWS: [every: Every, startsAt: number, daysAround: number][] = [
  ["day", 0, 3],
  ["day", 2, 3],
  ["day", 23, 3],
  ["week", 1, 15],
  ["week", 7, 15],
  ["month", 1, 64],
  ["month", 28, 64],
];

describe.each(CHANGES)("%s", (timeZone, ...dates) => {
  test.each(WINDOWS)(
    "every %s from %s: the edges are those of the definition, minute by minute",
    (every, startsAt, days) => {
      const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
      const random = new Random(seed);
      const calendar = calendarWindow({ limit: 1, every, timeZone, startsAt }).calendar!;
      for (const date of dates) {
        const middle = Date.parse(date) / MINUTE_MS;
        const edges = edgesOf(timeZone, every, startsAt, middle - days * DAY_MINUTES, middle + days * DAY_MINUTES);
        expect(edges.length).toBeGreaterThan(1);
        for (let i = 1; i < edges.length; i++) {
          const [startMs, endMs] = [edges[i - 1]! * MINUTE_MS, edges[i]! * MINUTE_MS];
          for (const ms of [startMs, startMs + 1, random.int(startMs, endMs - 1), endMs - 1]) {
            calendar.turnTo(ms);
            expect({ seed, ms, start: calendar.terms.spanMs, end: calendar.terms.rate }).toEqual({
              seed,
              ms,
              start: startMs,
              end: endMs,
            });
          }
        }
      }
    },
  );
});

test("windows have the lengths of their days and months", () => {
  const hours = (options: Parameters<typeof calendarWindow>[0], ms: number) => {
    const calendar = calendarWindow(options).calendar!;
    calendar.turnTo(ms);
    return (calendar.terms.rate - calendar.terms.spanMs) / 3_600_000;
  };
  const berlin = { limit: 1, timeZone: "Europe/Berlin" };
  expect(hours({ ...berlin, every: "day" }, Date.UTC(2026, 2, 29, 12))).toBe(23);
  expect(hours({ ...berlin, every: "day" }, Date.UTC(2026, 9, 25, 12))).toBe(25);
  expect(hours({ ...berlin, every: "week" }, Date.UTC(2026, 9, 25, 12))).toBe(7 * 24 + 1);
  expect(hours({ ...berlin, every: "month" }, Date.UTC(2026, 2, 15))).toBe(31 * 24 - 1);
  expect(hours({ limit: 1, every: "month" }, Date.UTC(2028, 1, 15))).toBe(29 * 24);
  expect(hours({ limit: 1, every: "day", timeZone: "Australia/Lord_Howe" }, Date.UTC(2025, 3, 6))).toBe(24.5);
});

test.each([
  ["Asia/Calcutta", "Asia/Kolkata"],
  ["US/Pacific", "America/Los_Angeles"],
  ["GMT", "UTC"],
  ["Etc/UTC", "UTC"],
])("%s and %s are one zone: their windows and their identity are equal", (one, other) => {
  for (const every of ["day", "week", "month"] as const)
    for (let ms = Date.UTC(2026, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 86_400_000 / 2) {
      const [a, b] = [one, other].map((timeZone) => calendarWindow({ limit: 1, every, timeZone }).calendar!);
      for (const each of [a!, b!]) each.turnTo(ms);
      expect(a!.terms).toEqual(b!.terms);
    }
});
