import { afterEach, expect, test, vi } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import { Election } from "../../src/operate/exporters/election.ts";

/** Two processes on one store. The time passes for both. */
function twoProcesses() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const store = memoryStore({ clock: Date.now, monotonic: Date.now });
  const elections = [new Election(store), new Election(store)] as const;
  return {
    step: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    ask: (process: 0 | 1) => elections[process].isElected("Series s"),
  };
}
afterEach(() => void vi.useRealTimers());

test.each([1000, 5000, 15_000, 60_000])(
  "collected every %i ms, a process that is killed is replaced when its numbers are out of date, and nobody before",
  async (everyMs) => {
    for (const collections of [2, 3, 10]) {
      for (const phaseMs of [1, everyMs / 3, everyMs - 1]) {
        const { step, ask } = twoProcesses();
        for (let i = 0; i < collections; i++) {
          expect(await ask(0)).toBe(true);
          await step(phaseMs);
          expect(await ask(1)).toBe(false);
          await step(everyMs - phaseMs);
        }
        // The first one is killed after its last collection.
        await step(phaseMs);
        let replacedAfter = everyMs + phaseMs;
        for (; !(await ask(1)); replacedAfter += everyMs) await step(everyMs);
        expect(replacedAfter).toBeLessThanOrEqual(Math.max(6000, 1.1 * everyMs + 1000) + everyMs);
      }
    }
  },
);

test("a look at the metrics by hand does not shorten the lease", async () => {
  const { step, ask } = twoProcesses();
  for (let i = 0; i < 3; i++) {
    await ask(0);
    await step(15_000);
  }
  for (let i = 0; i < 20; i++) {
    await ask(0);
    await step(10);
  }
  await step(14_000);
  expect(await ask(1)).toBe(false);
});

test("a process that was collected once keeps the lock for a minute, and one that dies for 6 s", async () => {
  const { step, ask } = twoProcesses();
  expect(await ask(0)).toBe(true);
  for (let i = 0; i < 30; i++) {
    await step(2000);
    expect(await ask(1)).toBe(false);
  }
  vi.setSystemTime(Date.now() + 5999); // no timer fires: it is killed
  expect(await ask(1)).toBe(false);
  vi.setSystemTime(Date.now() + 2);
  expect(await ask(1)).toBe(true);
});
