import { afterAll, beforeEach, expect, test } from "vitest";
import { calendarWindow, Limiter, memoryStore, type Store } from "../../src/entries/index.ts";

const NOON_MS = Date.UTC(2026, 6, 1, 12);
const HOUR_MS = 3_600_000;

const warned: string[] = [];
const note = ({ name, message }: Error) => void (name === "OrielWarning" && warned.push(message));
process.on("warning", note);
afterAll(() => void process.off("warning", note));
/** A warning is emitted in a later turn. */
const told = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  return warned;
};

const clock = { nowMs: NOON_MS };
const memory = memoryStore({ registry: false, clock: () => clock.nowMs });
let steps = 0;
const store: Store = {
  ...memory,
  run(...call) {
    steps++;
    return memory.run(...call);
  },
};
beforeEach(() => {
  memory.clear();
  steps = 0;
});
const day = (timeZone: string) => [calendarWindow({ limit: 5, every: "day", timeZone })];
const limiterIn = (timeZone: string) => new Limiter(store, day(timeZone), { name: "quota" });

test("a call costs one step, and one more in all of a process when its window has ended", async () => {
  clock.nowMs = NOON_MS;
  const limiter = limiterIn("Asia/Tokyo");
  await limiter.take("a");
  steps = 0;
  for (const id of ["a", "b", "c"]) await limiter.take(id);
  expect(steps).toBe(3);
  clock.nowMs += 24 * HOUR_MS;
  for (const id of ["a", "b", "c"]) await limiter.take(id);
  expect(steps).toBe(3 + 3 + 1);
  // Policies that are made anew share what was learned.
  for (const id of ["a", "b"]) await limiter.take(id, { policies: day("Asia/Tokyo") });
  expect(steps).toBe(7 + 2);
});

test("a process is warned once of a window that its rules do not know, and both sides go on with it", async () => {
  clock.nowMs = NOON_MS;
  // Zones without changes stand for the rules of one zone in data of different years.
  const [one, other] = [limiterIn("Etc/GMT-3"), limiterIn("Etc/GMT-2")];
  await one.take("a");
  await one.take("a");
  expect(await told()).toEqual([]);
  for (let i = 0; i < 3; i++)
    expect((await other.take("a")).policies[0]).toMatchObject({ resetAtMs: NOON_MS + 10 * HOUR_MS });
  // All were taken in the day that ends at 22:00, too.
  expect(await told()).toEqual([]);
  for (let i = 0; i < 3; i++)
    expect((await one.take("a")).policies[0]).toMatchObject({ resetAtMs: NOON_MS + 9 * HOUR_MS });
  const early = limiterIn("Etc/GMT-4");
  for (let i = 0; i < 2; i++)
    expect((await early.take("a")).policies[0]).toMatchObject({ resetAtMs: NOON_MS + 9 * HOUR_MS });
  expect(await told()).toEqual([
    'calendarWindow: permits were taken in a window that ends at 2026-07-01T21:00:00.000Z, and count until then. By this process\'s rules of "Etc/GMT-4" one ends at 2026-07-02T20:00:00.000Z: the option timeZone has changed, or other processes have other rules or options',
  ]);
});

test("a clock that leaves each window that it has named ends the call, and nothing is counted", async () => {
  let days = 0;
  const restless = memoryStore({ registry: false, clock: () => NOON_MS + 24 * HOUR_MS * days++ });
  const limiter = new Limiter(restless, day("Asia/Seoul"), { name: "quota" });
  await expect(limiter.take("a")).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: true });
  expect(restless.entryOf("oriel:{quota:a}:limit:calendar-window")).toBeUndefined();
});
