import { describe, expect, test, vi } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import { SlidingTally } from "../../src/limits/breaker/tally.ts";
import { START_MS } from "../harness/clock/stepped-stores.ts";
import { Held, type Opened, onNothing, Stage } from "./contract/stage.ts";

const BAD = { isBad: true };

async function inMemory(): Promise<Opened> {
  const clock = { nowMs: START_MS };
  const store = memoryStore({ clock: () => clock.nowMs, registry: false });
  return { store, clock, clear: async () => store.clear(), close: () => store.close() };
}

/** What users of other breakers reported, and the reference's tests; each alone and shared. */
describe.each([
  ["no store", onNothing],
  ["memory", inMemory],
])("%s", (_name, open) => {
  const staged = async () => new Stage(await open());

  // T47: Sentinel #1638, #3363; resilience4j #903.
  test("T47: a probe that never completes gives its place to another after its lease", async () => {
    const stage = await staged();
    const breaker = stage.breaker({ failures: 1, lease: "2s" });
    await stage.call(breaker, BAD);
    stage.pass(5000);
    const stuck = new Held(breaker);
    await breaker.flush();
    stage.pass(1999);
    expect(await stage.call(breaker)).toBe("OPEN");
    stage.pass(1);
    await breaker.flush();
    expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 0 });
    expect(await stage.call(breaker)).toBe("good");
    expect(breaker.stats().state).toBe("closed");
    await stuck.fail();
    await breaker.flush();
    expect(breaker.stats()).toMatchObject({ state: "closed", calls: 0, failures: 0 });
  });

  // T48: sentinel-golang #334; Sentinel #3287.
  test.each([0, 1, 999, 2500, 4999])(
    "T48: 49 + 49 errors around a boundary, %i ms into a bucket, trip a threshold of 50 in 5 s",
    async (offsetMs) => {
      const stage = await staged();
      stage.pass(offsetMs);
      const breaker = stage.breaker({ failures: 50, span: "5s" });
      await stage.calls(breaker, 49, BAD);
      expect(breaker.stats().state).toBe("closed");
      stage.pass(1);
      expect(await stage.calls(breaker, 49, BAD)).toEqual(["bad", ...Array(48).fill("OPEN")]);
      expect(breaker.stats().state).toBe("open");
    },
  );

  // Sentinel, CircuitBreakingIntegrationTest: testSlowRequestMode, testSlowRequestModeUseDefaultRule.
  test("Sentinel: slow ratio 0.8 over 50 ms, least 10: 12 of 15 stays closed, 13 of 16 opens; slow and fast probes", async () => {
    const stage = await staged();
    const breaker = stage.breaker({ slowRatio: 0.8, slowCall: 50, minimumCalls: 10, span: "1m" });
    await stage.calls(breaker, 3, { tookMs: 50 });
    await stage.calls(breaker, 12, { tookMs: 51 });
    expect(breaker.stats()).toMatchObject({ state: "closed", calls: 15, slow: 12 });
    await stage.call(breaker, { tookMs: 51 });
    expect(breaker.stats().state).toBe("open");
    stage.pass(5000);
    expect(await stage.call(breaker, { tookMs: 60 })).toBe("good");
    expect(breaker.stats().state).toBe("open");
    stage.pass(5000);
    await stage.call(breaker, { tookMs: 10 });
    expect(breaker.stats().state).toBe("closed");
  });

  // Sentinel, CircuitBreakingIntegrationTest: testExceptionRatioMode.
  test("Sentinel: error ratio 0.5, least 10: 7 of 10 opens, at the 10th call", async () => {
    const stage = await staged();
    const breaker = stage.breaker({ failureRatio: 0.5, minimumCalls: 10 });
    await stage.calls(breaker, 7, BAD);
    await stage.calls(breaker, 2);
    expect(breaker.stats().state).toBe("closed");
    await stage.call(breaker);
    expect(breaker.stats().state).toBe("open");
  });

  // Sentinel, CircuitBreakingIntegrationTest: testMultipleHalfOpenedBreakers.
  test("Sentinel: two breakers around one call, 2 s and 4 s: after 3 s both end open, 3 s later both close", async () => {
    const stage = await staged();
    const outer = stage.breaker({ name: "outer", failures: 1, cooldown: "2s", isIgnored: () => false });
    const inner = stage.breaker({ name: "inner", failures: 1, cooldown: "4s" });
    const both = async (isBad: boolean) => {
      const work = () => (isBad ? Promise.reject(new Error("bad")) : "good");
      const ended = await outer.run(() => inner.run(work)).catch(({ code, message }) => code ?? message);
      await Promise.all([outer.flush(), inner.flush()]);
      return ended;
    };
    expect(await both(true)).toBe("bad");
    stage.pass(3000);
    expect(await both(false)).toBe("OPEN");
    expect([outer, inner].map((each) => each.stats().state)).toEqual(["open", "open"]);
    stage.pass(3000);
    expect(await both(false)).toBe("good");
    expect([outer, inner].map((each) => each.stats().state)).toEqual(["closed", "closed"]);
  });

  // Sentinel, ResponseTimeCircuitBreakerTest: testMaxSlowRatioThreshold.
  test("Sentinel: a slow ratio of 1 trips on equality, 3 of 3; passes again after 5 s", async () => {
    const stage = await staged();
    const breaker = stage.breaker({ slowRatio: 1, slowCall: 50, minimumCalls: 3 });
    await stage.calls(breaker, 3, { tookMs: 51 });
    expect(await stage.call(breaker)).toBe("OPEN");
    stage.pass(5000);
    expect(await stage.call(breaker)).toBe("good");
  });

  // Sentinel, ExceptionCircuitBreakerTest: testRecordErrorOrSuccess.
  test("Sentinel: ratio 0.2, 10 s: blocked at 5 s; a bad probe reopens, a good one closes; 1 error after 7 good stays closed", async () => {
    const stage = await staged();
    const breaker = stage.breaker({ failureRatio: 0.2, minimumCalls: 1, cooldown: "10s", span: "1m" });
    await stage.call(breaker, BAD);
    stage.pass(5000);
    expect(await stage.call(breaker)).toBe("OPEN");
    stage.pass(5000);
    expect(await stage.call(breaker, BAD)).toBe("bad");
    stage.pass(10_000);
    expect(await stage.call(breaker)).toBe("good");
    expect(breaker.stats().state).toBe("closed");
    await stage.calls(breaker, 7);
    await stage.call(breaker, BAD);
    expect(breaker.stats()).toMatchObject({ state: "closed", calls: 8, failures: 1 });
  });

  // cockatiel, SamplingBreaker: at most one slot is rotated per call, so old failures stay (T22).
  test.each([1, 2, 7, 10_000])("cockatiel: after %i windows without calls only live calls count", async (windows) => {
    const stage = await staged();
    const breaker = stage.breaker({ failures: 10 });
    await stage.calls(breaker, 9, BAD);
    stage.pass(windows * 10_000);
    expect(await stage.call(breaker, BAD)).toBe("bad");
    expect(breaker.stats()).toMatchObject({ state: "closed", calls: 1, failures: 1 });
  });

  // opossum: setInterval rotates its windows, so that they are wrong when timers stall (T23, G14).
  test("opossum: the window is correct without timers, and after an hour without calls", async () => {
    const timers = (["setTimeout", "setInterval"] as const).map((name) => vi.spyOn(globalThis, name));
    const stage = await staged();
    const breaker = stage.breaker({ failures: 2, cooldown: "2h" });
    await stage.call(breaker, BAD);
    stage.pass(3_600_000);
    await stage.call(breaker, BAD);
    expect(breaker.stats()).toMatchObject({ state: "closed", failures: 1 });
    await stage.call(breaker, BAD);
    stage.pass(3_600_000);
    expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 3_600_000 });
    for (const timer of timers) expect(timer).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  // resilience4j PR #597, #903: half-open must not use a time window.
  test("resilience4j: a half-open circuit waits for its probes, not for time or a window", async () => {
    const stage = await staged();
    const breaker = stage.breaker({ failures: 1, probes: 2, lease: "1h" });
    await stage.call(breaker, BAD);
    stage.pass(5000);
    expect(await stage.call(breaker)).toBe("good");
    stage.pass(3_000_000);
    expect(breaker.stats().state).toBe("half-open");
    expect(await stage.call(breaker)).toBe("good");
    expect(breaker.stats().state).toBe("closed");
  });
});

// opossum, lib/status.js: every latency is kept, in arrays that are sorted at each look. T39.
test("opossum: the memory of a window is bounded by its ms, and shrinks with its calls", () => {
  const tally = new SlidingTally();
  for (let call = 0; call < 300_000; call++) {
    const atMs = Math.floor(call / 300);
    tally.dropThrough(atMs - 100);
    tally.add(atMs, 1, 0, 0);
    if (tally.count > 100) throw new Error(`${tally.count} records for 100 ms`);
  }
  expect(tally.calls).toBe(30_000);
  tally.dropThrough(10_000);
  expect(tally.count).toBe(0);
});

// resilience4j #1284, cockatiel #89, opossum #550: a breaker shared by a fleet. Redis is not asked per call.
test("shared: a thousand calls in one window send about ten requests per second, and no call waits for them", async () => {
  const clock = { nowMs: START_MS };
  const memory = memoryStore({ clock: () => clock.nowMs });
  let steps = 0;
  const store: Opened["store"] = {
    ...memory,
    run: (...args) => {
      steps++;
      return memory.run(...args);
    },
  };
  const stage = new Stage({ store, clock, clear: async () => {}, close: async () => {} });
  const breaker = stage.breaker();
  for (let call = 0; call < 1000; call++) {
    stage.pass(1);
    await breaker.run(() => "good");
  }
  expect(steps).toBeLessThanOrEqual(12);
  await breaker.flush();
  expect(breaker.stats().calls).toBe(1000);
});
