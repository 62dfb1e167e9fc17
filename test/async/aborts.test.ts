import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { onAbort } from "../../src/base/async/aborts.ts";
import { Breaker, concurrency, Limiter, memoryStore, Series } from "../../src/entries/index.ts";

const CALLS = 30;

describe("calls that share a signal", () => {
  test("share its listener, each until it has ended", () => {
    const abort = new AbortController();
    const called: number[] = [];
    const ended = Array.from({ length: 4 }, (_, i) => onAbort(abort.signal, () => called.push(i)));
    expect(getEventListeners(abort.signal, "abort").length).toBe(1);
    ended[1]!();
    ended[1]!();
    abort.abort();
    expect(called).toEqual([0, 2, 3]);
    for (const end of ended) end();
    expect(getEventListeners(abort.signal, "abort").length).toBe(0);
    const later = onAbort(abort.signal, () => called.push(9));
    later();
    expect(called.length).toBe(3);
  });

  test("a call that has ended is not called, also if another call of the same abort ended it", () => {
    const abort = new AbortController();
    const called: string[] = [];
    const ends: (() => void)[] = [];
    for (const name of ["one", "two"])
      ends.push(
        onAbort(abort.signal, () => {
          called.push(name);
          for (const end of ends) end();
        }),
      );
    abort.abort();
    expect(called).toEqual(["one"]);
    expect(getEventListeners(abort.signal, "abort").length).toBe(0);
  });

  const store = memoryStore();
  const series = new Series(store, "s");
  const limiter = new Limiter(store, [concurrency({ limit: 1, lease: "1m" })], { name: "l" });
  const waiting = () => new Promise<never>(() => {});
  const breaker = new Breaker(store, { name: "b", span: "1m", failures: 99, cooldown: "1s" });
  const timed = new Breaker(store, { name: "t", span: "1m", failures: 99, cooldown: "1s", timeout: "1m" });

  test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ["Series.stats", (signal) => series.stats({ signal })],
    ["Series.record", (signal) => series.record(1, { signal })],
    ["Limiter.acquire", (signal) => limiter.acquire("id", { signal, wait: "1m" })],
    ["Breaker.run", (signal) => breaker.run(waiting, { signal })],
    ["Breaker.run with a timeout", (signal) => timed.run(waiting, { signal })],
  ])("%s adds at most one listener for all calls, and leaves none", async (_, call) => {
    const abort = new AbortController();
    const calls = Array.from({ length: CALLS }, () => call(abort.signal).then(String, (error) => error));
    // One more for the store, which stops what it has not sent.
    expect(getEventListeners(abort.signal, "abort").length).toBeLessThanOrEqual(2);
    const reason = new RangeError("enough");
    abort.abort(reason);
    const ended = await Promise.all(calls);
    expect(ended.filter((each) => each === reason).length).toBeGreaterThanOrEqual(CALLS - 1);
    await new Promise(setImmediate);
    expect(getEventListeners(abort.signal, "abort").length).toBeLessThanOrEqual(1);
  });
});
