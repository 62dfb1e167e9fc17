import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { leaseClock } from "../../src/base/async/lease-clock.ts";
import { memoryStore } from "../../src/entries/memory-store.ts";
import { Lock } from "../../src/holds/lock/lock.ts";
import { Breaker } from "../../src/limits/breaker/breaker.ts";
import { DelayQueue } from "../../src/queue/delay-queue.ts";

describe("the clock of leases", () => {
  test("follows the monotonic clock through small steps of the wall clock, and never goes back", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5000), fc.integer({ min: -3_600_000, max: 1000 }))), (steps) => {
        let [nowMs, wallMs] = [5, 1e12];
        const clock = leaseClock(
          () => nowMs,
          () => wallMs,
        );
        for (const [ms, awryMs] of steps) {
          nowMs += ms;
          wallMs += ms + awryMs;
          expect(clock()).toBe(nowMs);
        }
      }),
    );
  });

  test("counts the time of a sleep once", () => {
    let [nowMs, wallMs] = [5, 1e12];
    const clock = leaseClock(
      () => nowMs,
      () => wallMs,
    );
    wallMs += 3_600_000;
    expect(clock()).toBe(5 + 3_600_000);
    nowMs += 7;
    wallMs += 7;
    expect(clock()).toBe(12 + 3_600_000);
    wallMs -= 3_600_000; // set back: time goes on as it did
    expect(clock()).toBe(12 + 3_600_000);
  });
});

/** A process that is frozen: its monotonic clock and its timers stand still, the wall clock goes on. */
describe("right after a frozen process wakes, before any timer has run", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());
  const sleep = (ms: number) => vi.setSystemTime(Date.now() + ms);

  test("a lock whose lease may have ended is not held, and its signal is aborted", async () => {
    const store = memoryStore();
    const held = (await new Lock(store, "job").tryLock({ lease: "30s" }))!;
    const { signal } = held;
    sleep(29_000);
    expect(held.leftMs).toBeGreaterThan(0);
    sleep(2000);
    expect(held.leftMs).toBe(0);
    expect(signal.aborted).toBe(true);
    expect(await held.release()).toBe(false);
  });

  test("a breaker's cooldown is over", async () => {
    const breaker = new Breaker("local", { span: "10s", failures: 2, cooldown: "1m" });
    for (let i = 0; i < 2; i++) await breaker.run(() => Promise.reject(new Error("no"))).catch(() => {});
    await expect(breaker.run(async () => 1)).rejects.toMatchObject({ name: "OrielError" });
    sleep(61_000);
    expect(await breaker.run(async () => 1)).toBe(1);
  });

  test("a message has become due", async () => {
    const queue = new DelayQueue(memoryStore(), "mail");
    await queue.add("hello", { delay: "30m" });
    expect(await queue.claim()).toEqual([]);
    sleep(1_800_000);
    expect((await queue.claim()).map(({ payload }) => payload)).toEqual(["hello"]);
  });
});
