import { afterEach, expect, test, vi } from "vitest";
import { IDLE_TIMERS, idlePause, idleTimeout, TIMERS, timerMs, unref } from "../../src/base/async/timers.ts";

afterEach(() => vi.unstubAllGlobals());

test("an idle timeout does not keep the process alive", () => {
  const timer = idleTimeout(() => {}, 10_000);
  expect(timer.hasRef()).toBe(false);
  clearTimeout(timer);
});

test("the delay of a timer is a whole number of ms within the runtime's bound", () => {
  expect([-5, 0.1, 7, 1e12, Number.POSITIVE_INFINITY].map(timerMs)).toEqual([0, 1, 7, 2 ** 31 - 1, 2 ** 31 - 1]);
});

test.each([
  ["TIMERS", TIMERS],
  ["IDLE_TIMERS", IDLE_TIMERS],
])("%s run once, and not after they are cancelled", async (_, timers) => {
  const ran: string[] = [];
  timers.after(1, () => ran.push("first"));
  timers.after(1, () => ran.push("cancelled"))();
  await timers.pause(20);
  expect(ran).toEqual(["first"]);
});

test("an idle pause ends early", async () => {
  const { ended, end } = idlePause(1e9);
  end();
  await expect(ended).resolves.toBeUndefined();
});

test("unref accepts Deno's timers, and handles without unref", () => {
  const unrefTimer = vi.fn();
  vi.stubGlobal("Deno", { unrefTimer });
  unref(42);
  expect(unrefTimer).toHaveBeenCalledExactlyOnceWith(42);
  vi.unstubAllGlobals();
  for (const handle of [42, {}, undefined]) expect(() => unref(handle)).not.toThrow();
});
