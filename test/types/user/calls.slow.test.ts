// Options and calls as a user writes them: durations, counts, tags, events and names.
import { expect, expectTypeOf, test } from "vitest";
import {
  Breaker,
  type BreakerStats,
  Counters,
  FleetMetrics,
  httpStore,
  Limiter,
  LockedWindow,
  leakyBucket,
  MetricWindow,
  memoryStore,
  StatisticNode,
} from "../../../src/entries/index.ts";

const store = memoryStore();

test("an option of a duration has no unit in its name", () => {
  const url = "https://redis.example";
  expectTypeOf(httpStore({ url, token: "t", deadline: "1s" }).close).toBeFunction();
  // @ts-expect-error: its name is `deadline`
  expect(() => httpStore({ url, token: "t", deadlineMs: 1000 })).toThrow("deadlineMs");
});

test("the second argument of add is the number of events", async () => {
  const counters = new Counters(store, "calls", { dimensions: ["site"] });
  await counters.add({ site: "a" }, 5);
  expect((await counters.read())[0]!.count).toBe(5);
  await counters.close();
});

test("takeAll requires a tag", async () => {
  const limiter = new Limiter(store, [leakyBucket({ capacity: 1, span: "1s" })], { name: "calls" });
  // @ts-expect-error: without a tag
  await expect(Limiter.takeAll([{ limiter, id: "a" }])).rejects.toMatchObject({ code: "ARGUMENT" });
  expect((await Limiter.takeAll([{ limiter, id: "a" }], { tag: "t" })).allowed).toBe(true);
});

test("the event open of a breaker has the counts that opened it", async () => {
  const breaker = new Breaker("local", { span: "10s", failures: 2, timeout: "1s", isIgnored: () => false });
  const opened: BreakerStats[] = [];
  breaker.on("open", (event) => {
    expectTypeOf(event).toEqualTypeOf<BreakerStats>();
    opened.push(event);
  });
  for (let i = 0; i < 2; i++) await breaker.run(() => Promise.reject(new Error("down")), { fallback: () => null });
  expect(opened).toMatchObject([{ state: "open", calls: 2, failures: 2, slow: 0 }]);
  await breaker.close();
  breaker.disable();
  expect([breaker.stats().state, breaker.enabled]).toEqual(["closed", false]);
});

test("an interval alone is enough for the metrics of a fleet", () => {
  expectTypeOf(new FleetMetrics(store, "calls", { interval: "7s" }).metric("a").recordFailure).toBeFunction();
});

test("failures are recorded beside successes, and latencies have that name", () => {
  const window = new MetricWindow({ sampleCount: 2, interval: "1s" });
  const node = new StatisticNode();
  for (const each of [window, node]) {
    each.recordSuccess(3);
    each.recordFailure();
  }
  expect([window.success(), window.failure(), window.meanLatencyMs()]).toEqual([1, 1, 3]);
});

test("a locked window has its own statistics, with their types", () => {
  const statistics = { largest: (values: Float32Array) => Math.max(...values), all: (values: Float32Array) => values };
  const window = new LockedWindow(store, "calls", { span: "1m", statistics });
  type Answer = Awaited<ReturnType<typeof window.stats>>;
  expectTypeOf<Answer["largest"]>().toEqualTypeOf<number>();
  expectTypeOf<Answer["all"]>().toEqualTypeOf<Float32Array>();
  // @ts-expect-error: no such statistic
  expectTypeOf<Answer["smallest"]>();
});
