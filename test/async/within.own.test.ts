import { afterEach, beforeEach, expect, test, vi } from "vitest";

let within: typeof import("../../src/base/async/within.ts").within;
beforeEach(async () => {
  vi.resetModules();
  ({ within } = await import("../../src/base/async/within.ts"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => void vi.useRealTimers());

const never = new Promise<never>(() => {});

/** Begins waits for promises that never settle. Returns their outcomes so far, and advances the time. */
function waitsOf(...delaysMs: number[]) {
  const outcomes: string[] = delaysMs.map(() => "waits");
  delaysMs.forEach((ms, i) => void within(never, ms).then(({ kind }) => (outcomes[i] = kind)));
  return async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    return [...outcomes];
  };
}

test("a wait resolves to the value, the error, or late", async () => {
  expect(await within(Promise.resolve(1), 50)).toEqual({ kind: "done", value: 1 });
  expect(await within(Promise.reject("no"), 50)).toEqual({ kind: "failed", error: "no" });
  const after = waitsOf(50);
  expect(await after(49)).toEqual(["waits"]);
  expect(await after(1)).toEqual(["late"]);
});

test("a timer that is set again counts from then", async () => {
  await within(Promise.resolve(), 100);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(60);
  const after = waitsOf(100, 100);
  expect(vi.getTimerCount()).toBe(2);
  expect(await after(99)).toEqual(["waits", "waits"]);
  expect(await after(1)).toEqual(["late", "late"]);
});

test("a timer that was put away and ran out is set again", async () => {
  await within(Promise.resolve(), 100);
  await vi.advanceTimersByTimeAsync(500);
  const after = waitsOf(100);
  expect(await after(99)).toEqual(["waits"]);
  expect(await after(1)).toEqual(["late"]);
});

test("a wait under real timers uses no fake timer that was put away", async () => {
  await within(Promise.resolve(), 1);
  vi.useRealTimers();
  expect(await within(never, 1)).toEqual({ kind: "late" });
});

test("few timers are put away", async () => {
  for (let ms = 1000; ms < 1100; ms++) await within(Promise.resolve(), ms);
  expect(vi.getTimerCount()).toBeLessThanOrEqual(8);
});

test("an idle wait, and a timer that was put away, do not keep the process alive", async () => {
  vi.useRealTimers();
  const made = vi.spyOn(globalThis, "setTimeout");
  const isKept = () => (made.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef();
  void within(never, 12_345, true);
  expect(isKept()).toBe(false);
  const wait = within(Promise.resolve(), 54_321);
  expect(isKept()).toBe(true);
  await wait;
  expect(isKept()).toBe(false);
  void within(never, 54_321);
  expect(made).toHaveBeenCalledTimes(2);
  expect(isKept()).toBe(true);
  clearTimeout(made.mock.results.at(-1)!.value as NodeJS.Timeout);
  made.mockRestore();
});
