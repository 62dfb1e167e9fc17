import { afterEach, describe, expect, test, vi } from "vitest";
import { Breaker, type BreakerStats, OrielError } from "../../src/entries/index.ts";
import { onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { Held, onNothing, staged } from "./contract/stage.ts";

const BAD = { isBad: true };
const rejecting = (error: unknown) => () => Promise.reject(error);
const codeOf = ({ code, message }: OrielError) => code ?? message;

describe.each([
  ["no store", onNothing],
  ["memory", onMemory],
  ["redis", () => onRedis()],
])("outcomes of a call, %s", (_name, open) => {
  const stage = staged(open);

  const ignored = { isIgnored: (error: unknown) => error instanceof RangeError };

  test("an ignored call is in no window, and as a probe frees its place", async () => {
    const breaker = stage().breaker({ failures: 2, probes: 2, ...ignored });
    for (let i = 0; i < 5; i++) await breaker.run(rejecting(new RangeError("mine"))).catch(() => {});
    await breaker.flush();
    expect(breaker.stats()).toMatchObject({ state: "closed", calls: 0 });
    await stage().calls(breaker, 2, BAD);
    stage().pass(5000);
    for (let i = 0; i < 5; i++) {
      expect(await breaker.run(rejecting(new RangeError("mine"))).catch(codeOf)).toBe("mine");
      await breaker.flush();
      expect(breaker.stats().state).toBe("half-open");
    }
    expect(await stage().calls(breaker, 2)).toEqual(["good", "good"]);
    expect(breaker.stats().state).toBe("closed");
  });

  test("an ignored probe lets another begin at once, while others run", async () => {
    const breaker = stage().breaker({ failures: 1, probes: 2, ...ignored });
    await stage().call(breaker, BAD);
    stage().pass(5000);
    const [one, other] = [new Held(breaker), new Held(breaker)];
    await breaker.flush();
    stage().pass(200);
    expect(await stage().call(breaker)).toBe("OPEN");
    await one.fail(new RangeError("mine"));
    await breaker.flush();
    stage().pass(200);
    expect(await stage().call(breaker)).toBe("good");
    await other.end();
    await breaker.flush();
    expect(breaker.stats().state).toBe("closed");
  });

  test("the rejection of an open inner breaker is ignored by default", async () => {
    const rule = { slowRatio: 0.8, slowCall: 50, minimumCalls: 1 };
    const outer = stage().breaker({ name: "outer", ...rule, cooldown: "2s" });
    const inner = stage().breaker({ name: "inner", ...rule, cooldown: "4s" });
    const call = async (tookMs: number) => {
      const ended = await outer.run(() => inner.run(() => stage().pass(tookMs))).catch(codeOf);
      await Promise.all([outer.flush(), inner.flush()]);
      return ended;
    };
    await call(100);
    expect([outer, inner].map((each) => each.stats().state)).toEqual(["open", "open"]);
    stage().pass(3000);
    expect(await call(100)).toBe("OPEN");
    expect([outer, inner].map((each) => each.stats().state)).toEqual(["half-open", "open"]);
    stage().pass(2000);
    expect(await call(1)).toBeUndefined();
    expect([outer, inner].map((each) => each.stats().state)).toEqual(["closed", "closed"]);

    const strict = stage().breaker({ name: "strict", failures: 1, isIgnored: () => false });
    await strict.run(rejecting(new OrielError("OPEN", "open"))).catch(() => {});
    await strict.flush();
    expect(strict.stats().state).toBe("open");
  });

  test("isIgnored is checked before isFailure; if it throws, the call is a failure", async () => {
    const isIgnored = (error: unknown) => {
      if (error instanceof TypeError) throw new Error("isIgnored itself");
      return error instanceof RangeError;
    };
    const breaker = stage().breaker({ failures: 100, isIgnored, isFailure: () => true });
    for (const error of [new RangeError("ignored"), new TypeError("odd"), new Error("bad")])
      await breaker.run(rejecting(error)).catch(() => {});
    await breaker.flush();
    expect(breaker.stats()).toMatchObject({ calls: 2, failures: 2 });
  });

  test("the event open has the counts that opened the circuit, in each process and after a failed probe", async () => {
    const [one, other] = [stage().breaker({ minimumCalls: 4 }), stage().breaker({ minimumCalls: 4 })];
    const reported: BreakerStats[] = [];
    for (const each of [one, other]) each.on("open", (stats) => reported.push(stats));
    for (let i = 0; i < 4; i++) await stage().call(one, { isBad: i > 0 });
    await other.flush();
    const isFleet = stage().opened.store !== "local";
    const numbers = { state: "open", calls: 4, failures: 3, slow: 0 };
    expect(reported).toEqual(Array(isFleet ? 2 : 1).fill(expect.objectContaining(numbers)));
    stage().pass(5000);
    expect(await stage().call(one, BAD)).toBe("bad");
    expect(reported.at(-1)).toMatchObject({ ...numbers, retryAfterMs: 5000 });
    expect(one.stats()).toMatchObject(numbers);
    stage().pass(5000);
    await stage().call(one);
    expect(one.stats()).toMatchObject({ state: "closed", calls: 0, failures: 0 });
  });

  test("fallback: its value replaces any rejection except the caller's abort, after the call was counted", async () => {
    const breaker = stage().breaker({ failures: 2 });
    const reported: unknown[] = [];
    const fallback = (error: unknown) => {
      reported.push(codeOf(error as OrielError));
      return "instead";
    };
    expect(await breaker.run(() => 7, { fallback })).toBe(7);
    for (let i = 0; i < 2; i++) {
      expect(await breaker.run(rejecting(new Error("bad")), { fallback })).toBe("instead");
      await breaker.flush();
    }
    expect(breaker.stats()).toMatchObject({ state: "open", calls: 3, failures: 2 });
    expect(await breaker.run(() => 7, { fallback: async (error) => fallback(error) })).toBe("instead");
    expect(reported).toEqual(["bad", "bad", "OPEN"]);
    const abort = AbortSignal.abort(new Error("enough"));
    await expect(breaker.run(() => 7, { fallback, signal: abort })).rejects.toThrow("enough");
    const error = new Error("fallback itself");
    await expect(breaker.run(() => 7, { fallback: rejecting(error) })).rejects.toBe(error);
  });
});

describe("timeout", () => {
  afterEach(() => void vi.useRealTimers());
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const open = () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    return new Breaker("local", {
      span: "10s",
      failures: 2,
      timeout: 500,
      monotonic: () => Date.now(),
      ...{ isFailure: () => false, isIgnored: () => true },
    });
  };
  const never = () => new Promise<never>(() => {});

  test("the call rejects with DEADLINE, its signal aborts with that error, and it is a failure", async () => {
    const breaker = open();
    let signal: AbortSignal | undefined;
    const ended = breaker
      .run((given) => {
        signal = given;
        return never();
      })
      .catch((error) => error);
    await pass(499);
    expect(signal!.aborted).toBe(false);
    await pass(1);
    const error = await ended;
    expect(error).toMatchObject({ code: "DEADLINE", transient: true, applied: "unknown", structureName: "local" });
    expect(error.message).toBe('Breaker "local" run: fn did not end within the timeout of 500 ms');
    expect(signal!.reason).toBe(error);
    expect(breaker.stats()).toMatchObject({ calls: 1, failures: 1 });
    const other = breaker.run(never, { fallback: () => "instead" });
    await pass(500);
    expect(await other).toBe("instead");
    expect(breaker.stats().state).toBe("open");
  });

  test("a call that ends in time leaves no timer; the caller's abort passes through and is ignored", async () => {
    const breaker = open();
    // Stores of other tests may set timers of their own.
    const [set, cleared] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    const left = () => {
      const ours = set.mock.results.filter((_, i) => set.mock.calls[i]![1] === 500).map(({ value }) => value);
      return ours.filter((timer) => !cleared.mock.calls.some(([one]) => one === timer)).length;
    };
    expect(await breaker.run(() => 7)).toBe(7);
    expect(left()).toBe(0);
    const abort = new AbortController();
    let signal: AbortSignal | undefined;
    const ended = breaker.run(
      (given) => {
        signal = given;
        return never();
      },
      { signal: abort.signal },
    );
    await pass(1);
    const reason = new Error("enough");
    abort.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(signal!.reason).toBe(reason);
    expect(left()).toBe(0);
    expect(breaker.stats()).toMatchObject({ calls: 1, failures: 0 });
    expect(set.mock.calls.filter(([, ms]) => ms === 500).length).toBeGreaterThan(0);
    vi.restoreAllMocks();
  });
});

test("fn always gets a signal, its own if it takes one", async () => {
  const breaker = new Breaker("local", { span: "1s", failures: 1 });
  const signals = [await breaker.run((signal) => signal), await breaker.run((signal) => signal)];
  const [any] = await breaker.run((...all: [AbortSignal]) => all);
  for (const signal of [...signals, any]) expect(signal).toMatchObject({ aborted: false });
  expect(signals[0]).not.toBe(signals[1]);
});
