import { expect, test } from "vitest";
import { Calendar, checkBuckets, hasSameTimes } from "../../src/base/calendar.ts";
import { Random } from "../simulator/world/random.ts";

const MINUTE_MS = 60_000;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo"];

/** Local date and time of a minute, by the runtime's own words. */
function localOf(timeZone: string) {
  const style = { dateStyle: "short", timeStyle: "short", hourCycle: "h23", timeZone } as const;
  const format = new Intl.DateTimeFormat("sv-SE", style);
  return (minute: number) => format.format(minute * MINUTE_MS);
}

test.each(ZONES)("a day in %s begins with the first minute of its local date", (timeZone) => {
  const calendar = new Calendar(timeZone);
  const local = localOf(timeZone);
  const seed = Number(process.env.ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = new Random(seed);
  // Days on which clocks were changed, among others at midnight, and any others.
  const days = [Date.UTC(2026, 2, 29), Date.UTC(2026, 9, 25), Date.UTC(2026, 2, 8), Date.UTC(2026, 10, 1)];
  days.push(Date.UTC(2018, 10, 4), Date.UTC(2018, 1, 18), Date.UTC(2025, 3, 6), Date.UTC(2025, 9, 5));
  for (let i = 0; i < 20; i++) days.push(Date.UTC(1975 + random.int(0, 60), random.int(0, 11), random.int(1, 28)));
  for (const day of days)
    for (let i = 0; i < 6; i++) {
      const minute = day / MINUTE_MS + random.int(-720, 2160);
      const date = local(minute).slice(0, 10);
      const start = calendar.startOf("day", minute);
      const reported = `seed ${seed}, minute ${minute}, ${local(minute)}: starts ${local(start)}`;
      expect(local(start).slice(0, 10), reported).toBe(date);
      expect(local(start - 1).slice(0, 10) < date || local(start).endsWith("00:00"), reported).toBe(true);
      expect(start <= minute && minute - start < 1500, reported).toBe(true);
    }
});

test.each(ZONES)("an hour in %s covers one local hour, of at most 60 minutes", (timeZone) => {
  const calendar = new Calendar(timeZone);
  const local = localOf(timeZone);
  for (const day of [Date.UTC(2026, 2, 28), Date.UTC(2026, 9, 24), Date.UTC(2025, 3, 5), Date.UTC(2025, 9, 4)])
    for (let minute = day / MINUTE_MS; minute < day / MINUTE_MS + 2880; minute += 7) {
      const start = calendar.startOf("hour", minute);
      expect(minute - start).toBe(Number(local(minute).slice(14, 16)));
    }
});

test("an hour that occurs twice is two buckets, and days have 23 or 25 hours", () => {
  const calendar = new Calendar("Europe/Berlin");
  const twice = Date.UTC(2026, 9, 25, 0, 30) / MINUTE_MS; // 02:30 summer time; an hour later 02:30 again
  expect(calendar.startOf("hour", twice + 60) - calendar.startOf("hour", twice)).toBe(60);
  const lengthOf = (month: number, date: number) =>
    (calendar.startOf("day", Date.UTC(2026, month, date + 1, 12) / MINUTE_MS) -
      calendar.startOf("day", Date.UTC(2026, month, date, 12) / MINUTE_MS)) /
    60;
  expect([lengthOf(2, 29), lengthOf(9, 25), lengthOf(5, 1)]).toEqual([23, 25, 24]);
});

test("invalid names are refused", () => {
  expect(() => new Calendar("Mars/Olympus")).toThrow(/^timeZone is "Mars\/Olympus"/);
  expect(() => checkBuckets(["second"])).toThrow(
    /buckets is an array of 1; it must be one or more of minute, hour, day/,
  );
  expect(checkBuckets(["day", "minute", "day"])).toEqual(["minute", "day"]);
});

test.each([
  ["Asia/Kolkata", "Asia/Calcutta", true],
  ["Europe/Kiev", "europe/kiev", true],
  ["UTC", "Etc/Zulu", true],
  ["Europe/Berlin", "Europe/Vienna", false], // until 1980
  ["Europe/Berlin", "Europe/London", false],
  ["Asia/Kolkata", "Asia/Kathmandu", false], // until 1986
  ["America/New_York", "America/Toronto", false], // 1974
  ["America/Los_Angeles", "America/Tijuana", false],
  ["Australia/Sydney", "Australia/Lord_Howe", false],
  ["Africa/Casablanca", "Africa/El_Aaiun", false], // until 1976
])("%s and %s have the same buckets: %s", (one, other, isSame) => {
  expect(hasSameTimes(new Calendar(one), new Calendar(other))).toBe(isSame);
  expect(hasSameTimes(new Calendar(other), new Calendar(one))).toBe(isSame);
});
