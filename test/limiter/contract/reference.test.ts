// The acceptance tests of limiters, by their numbers in the list of the field's faults. T37 (part), T39 (a full store):
// reference-load.slow.test.ts.
// Tested elsewhere in this folder:
//   T1, T2, T3, T9, T29 keys.slow.test.ts · T6, T12, T28, T36 (part) bad-input.test.ts · T13, T18 processes.slow.test.ts (four clocks
//   10 s and an hour apart) · T14, T15, T20, T35 oracle.slow.test.ts · T25, T26, T31, T32 faults.slow.test.ts · T27 suite.rows.test.ts
//   (the verbs on a cluster) · T11, T17 suite.ts, suite-several.ts · T30, T33 outages.slow.test.ts · T34 (part),
//   T42 hot-key.slow.test.ts · T39 many-ids.own.slow.test.ts · T43-T45 test/lock
// These do not touch limiters:
//   T8 (companion indexes): a limiter has none; its keys all expire (T2) · T19 (fast clients): no client's clock is asked
//   (T18 has one an hour ahead) · T21 (threads with times of their own): calls carry no times · T23 (frozen timers): no
//   decision asks a timer · T38 percentiles, T48 windows of one bucket: test/kernel, test/window · T40 block lists: there is
//   none, a block is a field of one key · T41 metric labels: none are made · T46 job queues, T47 breakers: there are none
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fixedWindow, gcra, Limiter, leakyBucket, type Policy, slidingWindow } from "../../../src/entries/index.ts";
import { type OpenStore, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { Random } from "../../simulator/world/random.ts";

const stores = { memory: onMemory, redis: () => onRedis() };
describe.each(Object.keys(stores) as (keyof typeof stores)[])("%s", (name) => {
  let opened: OpenStore;
  const limiterOf = (...policies: Policy[]) => new Limiter(opened.store, policies, { name: "ref" });
  const wait = (ms: number) => {
    opened.clock.nowMs += ms;
  };
  beforeAll(async () => {
    opened = await stores[name]();
  });
  beforeEach(() => opened.clear());
  afterAll(() => opened?.close());

  test("T4 10 000 calls in the last millisecond never extend a window", async () => {
    const limiter = limiterOf(fixedWindow({ limit: 3, span: 10 }));
    for (let window = 0; window < 2000; window++) {
      expect((await limiter.take("a")).allowed).toBe(true);
      wait(9);
      const last = await Promise.all([limiter.take("a"), limiter.take("a"), limiter.take("a"), limiter.take("a")]);
      expect(last.map(({ allowed, resetAfterMs }) => [allowed, resetAfterMs])).toEqual([
        [true, 1],
        [true, 1],
        [false, 1],
        [false, 1],
      ]);
      wait(1);
    }
  });

  test("T5 constant traffic does not slide a fixed window: three windows, two resets", async () => {
    const limiter = limiterOf(fixedWindow({ limit: 5, span: 100 }));
    let resets = 0;
    for (let ms = 0; ms < 300; ms++, wait(1)) if ((await limiter.take("a")).remaining === 4) resets++;
    expect(resets).toBe(3);
  });

  test("T7 windows of 30 days and 10 years work without a timer", async () => {
    for (const days of [30, 3650]) {
      const spanMs = days * 86_400_000;
      for (const policy of [slidingWindow, fixedWindow]) {
        const limiter = limiterOf(policy({ limit: 1, span: spanMs, name: `d${days}${policy.name}` }));
        expect(await limiter.take("a")).toMatchObject({ allowed: true, resetAfterMs: spanMs });
        wait(spanMs - 1);
        expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1 });
        wait(1);
        expect(await limiter.take("a")).toMatchObject({ allowed: true });
      }
    }
    const limiter = limiterOf(slidingWindow({ limit: 1, span: "30d" }));
    await limiter.take("b");
    expect(await limiter.acquire("b", { wait: "24h" })).toMatchObject({
      allowed: false,
      retryAfterMs: 30 * 86_400_000,
    });
  });

  test("T10 rejected weighted calls cause no debt", async () => {
    const limiter = limiterOf(gcra({ limit: 10, span: 1000 }));
    await limiter.take("a", { cost: 8 });
    for (let i = 0; i < 50; i++) expect(await limiter.take("a", { cost: 5 })).toMatchObject({ remaining: 2 });
    wait(300);
    expect(await limiter.take("a", { cost: 5 })).toMatchObject({ allowed: true, remaining: 0 });
  });

  test("T14 no span of time, wherever it begins, has more calls than the limit", async () => {
    const random = new Random(14);
    const limiter = limiterOf(slidingWindow({ limit: 7, span: 100 }));
    const admitted: number[] = [];
    for (let i = 0; i < 4000; i++, wait(random.pick([0, 0, 1, 5, 30, 99, 100])))
      if ((await limiter.take("a")).allowed) admitted.push(opened.clock.nowMs);
    for (const [i, atMs] of admitted.entries())
      expect(admitted[i + 7] ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(atMs + 100);
  });

  test("T15 a golden trace at 0, 25, 50 and 99.9 % of the window", async () => {
    const limiter = limiterOf(slidingWindow({ limit: 4, span: 1000 }));
    const left: number[] = [];
    for (const ms of [0, 250, 250, 499]) {
      wait(ms);
      left.push((await limiter.take("a")).remaining);
    }
    expect(left).toEqual([3, 2, 1, 0]);
    expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1 });
    for (const [ms, remaining] of [
      [1, 1],
      [249, 1],
      [1, 2],
      [249, 2],
      [1, 3],
      [498, 3],
      [1, 4],
    ] as const) {
      wait(ms);
      expect((await limiter.peek("a")).remaining).toBe(remaining);
    }
  });

  test("T16 10 000 calls in one millisecond count as 10 000", async () => {
    const limiter = limiterOf(slidingWindow({ limit: 20_000, span: 1000 }));
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 1000 }, () => limiter.take("a")));
    expect(await limiter.peek("a")).toMatchObject({ remaining: 10_000 });
  });

  test("T20 times that step back by an hour: at most as many permits as with a frozen clock, and no endless wait", async () => {
    const random = new Random(20);
    for (const policy of [slidingWindow, fixedWindow, gcra]) {
      await opened.clear();
      const limiter = limiterOf(policy({ limit: 10, span: 1000 }));
      let latestMs = opened.clock.nowMs;
      const startMs = latestMs;
      let admitted = 0;
      for (let i = 0; i < 1500; i++) {
        wait(random.pick([0, 1, 3, 20, -1, -50, -3_600_000, 3_600_000]));
        if (opened.clock.nowMs > latestMs + 1000) opened.clock.nowMs = latestMs + 5;
        latestMs = Math.max(latestMs, opened.clock.nowMs);
        const decision = await limiter.take("a");
        if (decision.allowed) admitted++;
        else expect(opened.clock.nowMs + decision.retryAfterMs).toBeLessThanOrEqual(latestMs + 1000);
      }
      const windows = Math.ceil((latestMs - startMs) / 1000) + 1;
      expect(admitted).toBeLessThanOrEqual(10 * windows + 10);
    }
  });

  test("T22 after idle times of 1, 2, 10 and 10 000 windows only live calls count", async () => {
    for (const policy of [slidingWindow({ limit: 5, span: 100 }), fixedWindow({ limit: 5, span: 100 })])
      for (const windows of [1, 2, 10, 10_000]) {
        const limiter = limiterOf(policy);
        await limiter.take("a", { cost: 5 });
        wait(windows * 100);
        expect(await limiter.peek("a")).toMatchObject({ remaining: 5, resetAfterMs: 0 });
      }
  });

  test("T24 a failover to a clock 2 s behind: no double budget and no negative wait", async () => {
    const policies = [slidingWindow, fixedWindow, gcra];
    for (const policy of policies) {
      const limiter = limiterOf(policy({ limit: 3, span: 1000, name: `p${policies.indexOf(policy)}` }));
      for (let i = 0; i < 3; i++) await limiter.take("a");
      wait(-2000);
      const denied = await limiter.take("a");
      expect(denied.allowed).toBe(false);
      expect(denied.retryAfterMs).toBeGreaterThan(2000);
      wait(denied.retryAfterMs - 1);
      expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1 });
      wait(1);
      expect(await limiter.take("a")).toMatchObject({ allowed: true });
    }
  });

  test("T34 400 callers of one key: none is denied while permits are left", async () => {
    const limiter = limiterOf(slidingWindow({ limit: 2000, span: "1m" }), leakyBucket({ capacity: 2000, span: "1h" }));
    const callers = Array.from({ length: 400 }, async () => {
      let passed = 0;
      for (let i = 0; i < 6; i++) if ((await limiter.take("a")).allowed) passed++;
      return passed;
    });
    expect((await Promise.all(callers)).reduce((sum, each) => sum + each, 0)).toBe(2000);
  });

  test("T35 a call passes after exactly the promised wait: 10 in 13 s, 1 in an hour, a million per second", async () => {
    for (const [limit, spanMs] of [
      [10, 13_000],
      [1, 3_600_000],
      [1_000_000, 1000],
      [7, 999],
    ] as const)
      for (const policy of [gcra({ limit, span: spanMs }), leakyBucket({ capacity: limit, span: spanMs })]) {
        await opened.clear();
        const limiter = limiterOf(policy);
        await limiter.take("a", { cost: limit });
        for (let i = 0; i < 100; i++) {
          const { retryAfterMs } = await limiter.peek("a");
          wait(retryAfterMs - 1);
          if (retryAfterMs > 1) expect(await limiter.take("a")).toMatchObject({ allowed: false, retryAfterMs: 1 });
          wait(1);
          expect(await limiter.take("a")).toMatchObject({ allowed: true });
        }
      }
  });

  test("T36 limits of 1 000, 8 000 and a million per second are exact to the permit", async () => {
    for (const limit of [1000, 8000, 1_000_000])
      for (const policy of [
        gcra({ limit, span: 1000 }),
        slidingWindow({ limit, span: 1000 }),
        leakyBucket({ capacity: limit, span: 1000 }),
      ]) {
        await opened.clear();
        const limiter = limiterOf(policy);
        let admitted = 0;
        for (let ms = 0; ms < 1000; ms += 10, wait(10))
          admitted += (await limiter.take("a", { cost: limit, atLeast: 1 })).granted;
        expect(admitted).toBe(policy.name === "sliding-window" ? limit : limit + (limit * 990) / 1000);
      }
  });

  test("T37 counts near 2^53 and spans of years stay whole numbers and stay denied", async () => {
    const most = 2 ** 31 - 1;
    const limiter = limiterOf(
      slidingWindow({ limit: 2 ** 47, span: "3650d" }),
      fixedWindow({ limit: 2 ** 47, span: 2 ** 52 }),
      gcra({ limit: 1, burst: 1, span: 2 ** 51 }),
    );
    for (let i = 0; i < 20; i++) await limiter.penalty("a", most);
    const { policies } = await limiter.peek("a");
    expect(policies.slice(0, 2).map(({ remaining }) => remaining)).toEqual([2 ** 47 - 20 * most, 2 ** 47 - 20 * most]);
    for (const { resetAfterMs } of policies) expect(Number.isSafeInteger(resetAfterMs)).toBe(true);
    expect(policies[2]).toMatchObject({ allowed: false, remaining: 0, resetAfterMs: 2 ** 52 });
  });
});
