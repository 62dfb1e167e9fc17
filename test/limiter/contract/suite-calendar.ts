import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { calendarWindow, concurrency, Limiter, type Policy, slidingWindow } from "../../../src/entries/index.ts";
import type { MatrixStore } from "../../matrix/open.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** In 2101 the clocks of Berlin are set forward on Sunday the 27th of March, at 01:00 UTC. */
const SPRING_DAY_MS = Date.UTC(2101, 2, 26, 23);
const SPRING_MONTH_MS = Date.UTC(2101, 1, 28, 23);
const SPRING_MONTH_END_MS = Date.UTC(2101, 2, 31, 22);

/** Quotas of days, weeks and months, over one store on a stepped clock. Its time is far from that of the process. */
export function calendarSuite(name: string, open: () => Promise<MatrixStore>): void {
  describe(`${name}: calendar windows`, () => {
    let opened: MatrixStore;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.clear());
    afterAll(() => opened?.close());
    const limiterOf = (policies: readonly Policy[], store = opened.store, more = {}) =>
      new Limiter(store, policies, { ...opened.modes, name: "plan", ...more });
    const day = (limit: number, timeZone = "Europe/Berlin", more = {}) =>
      calendarWindow({ limit, every: "day", timeZone, ...more });

    test("a day of 23 hours has one quota, whose end is known to the ms", async () => {
      const limiter = limiterOf([day(2)]);
      opened.clock.nowMs = SPRING_DAY_MS - 1;
      expect(await limiter.take("a", { cost: 2 })).toMatchObject({ allowed: true, resetAfterMs: 1 });
      expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1 });
      opened.clock.nowMs = SPRING_DAY_MS;
      const endMs = SPRING_DAY_MS + 23 * HOUR_MS;
      const first = await limiter.take("a");
      expect(first).toMatchObject({ allowed: true, remaining: 1, resetAfterMs: 23 * HOUR_MS });
      expect(first.policies[0]).toMatchObject({ kind: "calendar-window", spanMs: 23 * HOUR_MS, resetAtMs: endMs });
      opened.clock.nowMs = endMs - 1;
      await limiter.take("a");
      const denied = await limiter.take("a");
      expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1, resetAfterMs: 1 });
      expect(denied.policies[0]).toMatchObject({ resetAtMs: endMs, remaining: 0 });
      opened.clock.nowMs = endMs;
      const next = await limiter.take("a");
      expect(next).toMatchObject({ allowed: true, remaining: 1 });
      expect(next.policies[0]).toMatchObject({ resetAtMs: endMs + DAY_MS, spanMs: DAY_MS });
    });

    test("a month and a week end with the calendar of the zone, and penalty and reward count in them", async () => {
      const limiter = limiterOf([
        calendarWindow({ limit: 9, every: "month", timeZone: "Europe/Berlin", name: "month" }),
        calendarWindow({ limit: 7, every: "week", timeZone: "Europe/Berlin", startsAt: 3, name: "week" }),
      ]);
      opened.clock.nowMs = SPRING_MONTH_MS;
      await limiter.penalty("a", 4);
      const { policies } = await limiter.reward("a", 1);
      // The week began on Wednesday the 23rd of February.
      expect(policies).toMatchObject([
        { name: "month", remaining: 6, resetAtMs: SPRING_MONTH_END_MS, spanMs: 31 * DAY_MS - HOUR_MS },
        { name: "week", remaining: 4, resetAtMs: Date.UTC(2101, 2, 1, 23), spanMs: 7 * DAY_MS },
      ]);
      opened.clock.nowMs = SPRING_MONTH_END_MS - 1;
      expect(await limiter.take("a", { cost: 7 })).toMatchObject({ allowed: false, policy: "month", retryAfterMs: 1 });
      opened.clock.nowMs = SPRING_MONTH_END_MS;
      expect(await limiter.take("a", { cost: 7 })).toMatchObject({ allowed: true });
    });

    test("two processes that name a zone differently share one quota", async () => {
      opened.clock.nowMs = SPRING_DAY_MS;
      const one = limiterOf([day(3, "Asia/Calcutta")]);
      const other = limiterOf([day(3, "Asia/Kolkata")], opened.other);
      expect(await one.take("a", { requestId: "r" })).toMatchObject({ remaining: 2 });
      expect(await other.take("a", { requestId: "r" })).toMatchObject({ remaining: 2 });
      expect(await other.take("a")).toMatchObject({ remaining: 1 });
      expect(await one.take("a")).toMatchObject({ remaining: 0 });
      expect(await other.take("a")).toMatchObject({ allowed: false });
    });

    test("processes with other rules of a zone share each window: three of them take the quota of one", async () => {
      // Zones without changes stand for the rules of one zone in data of different years.
      const zones = ["Etc/GMT-1", "Etc/GMT-2", "UTC"];
      const limiters = zones.map((zone, i) => limiterOf([day(10, zone)], i === 1 ? opened.other : opened.store));
      let granted = 0;
      for (let minute = 0; minute < 4 * 1440; minute += 41) {
        opened.clock.nowMs = SPRING_DAY_MS + 6 * HOUR_MS + minute * 60_000;
        const each = limiters[minute % 3]!;
        const { allowed, policies } = await each.take("a");
        granted += allowed ? 1 : 0;
        const endMs = policies[0]!.resetAtMs!;
        expect(endMs).toBeGreaterThan(opened.clock.nowMs);
        expect(endMs).toBeLessThanOrEqual(opened.clock.nowMs + DAY_MS);
      }
      // The first day and those that began in the four.
      expect(granted).toBe(5 * 10);
    });

    test("a window that another process began stays, and ends when it said", async () => {
      opened.clock.nowMs = SPRING_DAY_MS;
      const [one, other] = [limiterOf([day(2, "Etc/GMT-1")]), limiterOf([day(2, "Etc/GMT-4")], opened.other)];
      await one.take("a");
      const second = await other.take("a");
      expect(second).toMatchObject({ remaining: 0, resetAfterMs: DAY_MS });
      expect(second.policies[0]).toMatchObject({ resetAtMs: SPRING_DAY_MS + DAY_MS });
      opened.clock.nowMs += DAY_MS - 1;
      expect(await other.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1 });
      opened.clock.nowMs += 1;
      expect(await other.take("a")).toMatchObject({ allowed: true, remaining: 1, resetAfterMs: 21 * HOUR_MS });
      // This process takes the window of the other one for a new one, and that one takes it for the same.
      expect(await one.take("a")).toMatchObject({ allowed: true, remaining: 0 });
    });

    test("a process whose rules end a window later counts in it to its end, and begins no second one", async () => {
      const [late, early] = [limiterOf([day(3, "UTC")]), limiterOf([day(3, "Etc/GMT-1")], opened.other)];
      opened.clock.nowMs = SPRING_DAY_MS - HOUR_MS;
      await early.take("a", { cost: 2 });
      opened.clock.nowMs = SPRING_DAY_MS + 1;
      expect(await late.take("a")).toMatchObject({ allowed: true, remaining: 0, resetAfterMs: HOUR_MS - 1 });
      expect(await early.take("a")).toMatchObject({ allowed: false, retryAfterMs: HOUR_MS - 1 });
      opened.clock.nowMs += HOUR_MS - 1;
      // The permit of the late one was taken in this window, too.
      expect(await early.take("a")).toMatchObject({ allowed: true, remaining: 1, resetAfterMs: 23 * HOUR_MS });
    });

    const month = (timeZone: string) => [calendarWindow({ limit: 9, every: "month", timeZone })];
    const [TOKYO, NEW_YORK] = [month("Asia/Tokyo"), month("America/New_York")];
    const [BERLIN_EDGE_MS, TOKYO_EDGE_MS, NEW_YORK_EDGE_MS] = [
      SPRING_MONTH_MS,
      Date.UTC(2101, 1, 28, 15),
      Date.UTC(2101, 2, 1, 5),
    ];

    test("a move to the west on the last day of a month: the quota is free when the month of the old zone ends", async () => {
      const limiter = limiterOf(TOKYO);
      opened.clock.nowMs = TOKYO_EDGE_MS;
      await limiter.take("a", { cost: 9 });
      opened.clock.nowMs += HOUR_MS;
      const endMs = Date.UTC(2101, 2, 31, 15);
      const denied = await limiter.take("a", { policies: NEW_YORK });
      expect(denied).toMatchObject({ allowed: false, retryAfterMs: endMs - opened.clock.nowMs });
      // The length is that of March in New York, in which clocks are set forward.
      expect(denied.policies[0]).toMatchObject({ resetAtMs: endMs, spanMs: 31 * DAY_MS - HOUR_MS });
      opened.clock.nowMs = endMs - 1;
      expect(await limiter.peek("a", { policies: NEW_YORK })).toMatchObject({ allowed: false, retryAfterMs: 1 });
      opened.clock.nowMs = endMs;
      expect(await limiter.take("a", { policies: NEW_YORK })).toMatchObject({
        ...{ allowed: true, remaining: 8, policies: [{ resetAtMs: Date.UTC(2101, 3, 1, 4) }] },
      });
    });

    test("a move to the west within a month: its permits count until the month of the new zone ends", async () => {
      const limiter = limiterOf(TOKYO);
      opened.clock.nowMs = NEW_YORK_EDGE_MS + DAY_MS;
      await limiter.take("a", { cost: 9 });
      opened.clock.nowMs += HOUR_MS;
      const endMs = Date.UTC(2101, 3, 1, 4);
      const denied = await limiter.take("a", { policies: NEW_YORK });
      expect(denied).toMatchObject({ allowed: false, retryAfterMs: endMs - opened.clock.nowMs });
      expect(denied.policies[0]).toMatchObject({ resetAtMs: endMs, spanMs: 31 * DAY_MS - HOUR_MS });
      opened.clock.nowMs = Date.UTC(2101, 2, 31, 15);
      expect(await limiter.peek("a", { policies: NEW_YORK })).toMatchObject({ allowed: false });
      opened.clock.nowMs = endMs - 1;
      expect(await limiter.peek("a", { policies: NEW_YORK })).toMatchObject({ allowed: false, retryAfterMs: 1 });
      opened.clock.nowMs = endMs;
      expect(await limiter.take("a", { policies: NEW_YORK })).toMatchObject({ allowed: true, remaining: 8 });
    });

    test("a move to the east: permits since the new zone's month began count in it, and no others", async () => {
      const limiter = limiterOf(NEW_YORK);
      opened.clock.nowMs = BERLIN_EDGE_MS - DAY_MS;
      await limiter.take("a", { cost: 6 });
      const policies = month("Europe/Berlin");
      opened.clock.nowMs = BERLIN_EDGE_MS;
      const second = await limiter.take("a", { cost: 2, policies });
      expect(second).toMatchObject({ remaining: 1, policies: [{ resetAtMs: SPRING_MONTH_END_MS }] });
      // When February ends in New York, six are free. The other two count until March ends in Berlin.
      const left = NEW_YORK_EDGE_MS - BERLIN_EDGE_MS;
      expect(await limiter.peek("a", { cost: 7, policies })).toMatchObject({ allowed: false, retryAfterMs: left });
      expect(await limiter.peek("a", { cost: 8, policies })).toMatchObject({
        retryAfterMs: SPRING_MONTH_END_MS - opened.clock.nowMs,
      });
      opened.clock.nowMs = NEW_YORK_EDGE_MS - 1;
      expect(await limiter.peek("a", { cost: 7, policies })).toMatchObject({ allowed: false, retryAfterMs: 1 });
      opened.clock.nowMs = NEW_YORK_EDGE_MS;
      expect(await limiter.take("a", { cost: 7, policies })).toMatchObject({ allowed: true, remaining: 0 });
      const denied = await limiter.take("a", { policies });
      expect(denied).toMatchObject({ allowed: false, retryAfterMs: SPRING_MONTH_END_MS - opened.clock.nowMs });
      opened.clock.nowMs = SPRING_MONTH_END_MS;
      expect(await limiter.take("a", { cost: 9, policies })).toMatchObject({ allowed: true });
    });

    test("a server's clock that is set back begins no other window", async () => {
      opened.clock.nowMs = SPRING_DAY_MS;
      const limiter = limiterOf([day(2)]);
      await limiter.take("a", { cost: 2 });
      opened.clock.nowMs -= HOUR_MS;
      const denied = await limiter.take("a");
      expect(denied).toMatchObject({ allowed: false, retryAfterMs: 24 * HOUR_MS });
      expect(denied.policies[0]).toMatchObject({ resetAtMs: SPRING_DAY_MS + 23 * HOUR_MS });
    });

    test("another `every` takes effect at once, and keeps the permits of a window within the new one", async () => {
      opened.clock.nowMs = SPRING_MONTH_MS + DAY_MS;
      const limiter = limiterOf([day(5)]);
      const month = [calendarWindow({ limit: 5, every: "month", timeZone: "Europe/Berlin" })];
      await limiter.take("a", { cost: 2 });
      expect(await limiter.take("a", { policies: month })).toMatchObject({ remaining: 2 });
      expect(await limiter.take("a")).toMatchObject({ remaining: 4, resetAfterMs: DAY_MS });
    });

    test("a request that is repeated after midnight has its first answer; another calendar is a MISMATCH", async () => {
      const limiter = limiterOf([day(2)]);
      opened.clock.nowMs = SPRING_DAY_MS - 10;
      const first = await limiter.take("a", { requestId: "r" });
      opened.clock.nowMs = SPRING_DAY_MS + 10;
      await limiter.take("b"); // so that the process knows that it is another day
      expect(await limiter.take("a", { requestId: "r" })).toEqual(first);
      expect(await limiter.peek("a")).toMatchObject({ remaining: 2 });
      const policies = [calendarWindow({ limit: 2, every: "month", timeZone: "Europe/Berlin" })];
      await expect(limiter.take("a", { requestId: "r", policies })).rejects.toMatchObject({ code: "MISMATCH" });
    });

    test("a reservation of yesterday is charged to the day on which it is settled", async () => {
      const limiter = limiterOf([day(5)]);
      opened.clock.nowMs = SPRING_DAY_MS - 10;
      const reservation = await limiter.reserve("a", { cost: 3, lease: "1m" });
      expect(await limiter.peek("a")).toMatchObject({ remaining: 2 });
      opened.clock.nowMs = SPRING_DAY_MS + 10;
      expect(await limiter.peek("a")).toMatchObject({ remaining: 2 });
      expect(await reservation.settle(1)).toMatchObject({ policies: [{ charged: 1 }] });
      expect(await limiter.peek("a")).toMatchObject({ remaining: 4, resetAfterMs: 23 * HOUR_MS - 10 });
    });

    test("with other policies, in takeAll, acquire, block and reset, the window is that of the store's time", async () => {
      const lending = concurrency({ limit: 2, lease: "1m" });
      const user = limiterOf([day(4), slidingWindow({ limit: 9, span: 1000 }), lending], undefined, { name: "user" });
      const team = limiterOf([calendarWindow({ limit: 3, every: "week" })], undefined, { name: "team" });
      const take = () =>
        Limiter.takeAll(
          [
            { limiter: user, id: "u" },
            { limiter: team, id: "t", cost: 2 },
          ],
          { tag: "x" },
        );
      opened.clock.nowMs = SPRING_DAY_MS - 1;
      expect(await take()).toMatchObject({ allowed: true });
      opened.clock.nowMs = SPRING_DAY_MS;
      // It is Sunday. By UTC Monday begins 25 hours later.
      expect(await take()).toMatchObject({
        allowed: false,
        policy: "team:calendar-window",
        retryAfterMs: 25 * HOUR_MS,
      });
      const { policies } = await user.peek("u", { tag: "x" });
      expect(policies[0]).toMatchObject({ remaining: 4, spanMs: 23 * HOUR_MS });
      opened.clock.nowMs += 25 * HOUR_MS;
      expect(await take()).toMatchObject({ allowed: true });
      const { permit } = await user.acquire("u");
      await user.release("u", permit!);
      opened.clock.nowMs += DAY_MS;
      expect(await user.block("u", "1m")).toMatchObject({ allowed: false, policy: "block" });
      await user.reset("u");
      expect(await user.take("u")).toMatchObject({ allowed: true, remaining: 1 });
    });

    test("equal calls of one turn over the edge of a window are decided as if one came after the other", async () => {
      const limiter = limiterOf([day(3)], undefined, { denyCache: 50 });
      for (opened.clock.nowMs = SPRING_DAY_MS - 1; opened.clock.nowMs <= SPRING_DAY_MS; opened.clock.nowMs++) {
        const all = await Promise.all([1, 2, 3, 4, 5].map(() => limiter.take("a")));
        expect(all.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
        expect(all.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
      }
    });

    test("permits that were fetched ahead are those of the day of the fetch", async () => {
      opened.clock.nowMs = SPRING_DAY_MS - 60;
      const limiter = limiterOf([day(4)], undefined, { lease: { permits: 3, for: 50 } });
      expect(await limiter.take("a")).toMatchObject({ remaining: 3 });
      expect(await limiter.take("a")).toMatchObject({ remaining: 2 });
      opened.clock.nowMs += 60;
      expect(await limiter.take("a")).toMatchObject({ remaining: 3, resetAfterMs: 23 * HOUR_MS });
    });

    test("a state is kept for as long as a window of any time zone can hold its permits", async () => {
      opened.clock.nowMs = SPRING_DAY_MS + HOUR_MS;
      await limiterOf([day(1)]).take("a");
      const lastEndMs = opened.clock.nowMs + (23 * HOUR_MS * 9) / 8;
      expect([...(await opened.expiries()).values()]).toEqual([lastEndMs + DAY_MS]);
    });
  });
}
