import { expect, test } from "vitest";
import { Breaker, type BreakerOptions, memoryStore, type Store } from "../../src/entries/index.ts";

const RULE = { name: "b", span: "10s", failures: 3 } as const;

test.each<[string, Record<string, unknown>]>([
  ["span is undefined", { span: undefined }],
  ["span is 0", { span: 0 }],
  ['span is "2d"', { span: "2d" }],
  ["failureRatio is 1.1", { failureRatio: 1.1 }],
  ["failureRatio is NaN", { failureRatio: Number.NaN }],
  ["slowRatio is -0.1", { slowRatio: -0.1, slowCall: 1 }],
  ["slowCall is undefined", { slowRatio: 0.5 }],
  ["slowCall is 5", { slowCall: 5 }],
  ["slowCall is 0", { slowRatio: 0.5, slowCall: 0 }],
  ["timeout is 0", { timeout: 0 }],
  ["isIgnored is 5", { isIgnored: 5 }],
  ["minimumCalls is 0", { minimumCalls: 0 }],
  ["failures is 1.5", { failures: 1.5 }],
  ["failureRatio, failures, or slowRatio", { failures: undefined }],
  ["cooldown is 0", { cooldown: 0 }],
  ["quorum is -0.1; it must be from 0 to 1", { quorum: -0.1 }],
  ["quorum is 1.5; it must be from 0 to 1", { quorum: 1.5 }],
  ["quorum is NaN", { quorum: Number.NaN }],
  ['quorum is "half"', { quorum: "half" }],
  ["flush is 100; it must be at most half of span with quorum, 75 ms", { quorum: 0.5, span: 150 }],
  ['flush is "6s"; it must be at most half of span with quorum, 5000 ms', { quorum: 0.5, flush: "6s" }],
  ["cooldown.first is undefined", { cooldown: {} }],
  ["cooldown.first is 0", { cooldown: { first: 0 } }],
  ["cooldown.factor is 0.5; it must be a number from 1 to 10", { cooldown: { first: 1, factor: 0.5 } }],
  ["cooldown.factor is 11", { cooldown: { first: 1, factor: 11 } }],
  ['cooldown.longest is "2d"', { cooldown: { first: 1, longest: "2d" } }],
  [
    'cooldown.longest is "1s"; it must be at least cooldown.first, 2000 ms',
    { cooldown: { first: "2s", longest: "1s" } },
  ],
  ["cooldown.jitter is 1.1; it must be a number from 0 to 1", { cooldown: { first: 1, jitter: 1.1 } }],
  ['option of cooldown is "max"', { cooldown: { first: 1, max: 2 } }],
  ["cooldown is an empty array", { cooldown: [] }],
  ["cooldown is null", { cooldown: null }],
  ["probes is 101", { probes: 101 }],
  ["lease is 0.5", { lease: 0.5 }],
  ['flush is "11s"', { flush: "11s" }],
  ["isFailure is 5", { isFailure: 5 }],
  ["monotonic is 5", { monotonic: 5 }],
  ["name is undefined", { name: undefined }],
  ['option is "spam"', { spam: 1 }],
])("%s is refused with the argument's name before any request", (message, options) => {
  const store = memoryStore();
  const open = () => new Breaker(store, { ...RULE, ...options } as BreakerOptions);
  expect(open).toThrow(expect.objectContaining({ code: "ARGUMENT", message: expect.stringContaining(message) }));
  expect(store.sizeBytes).toBe(0);
});

test("invalid stores, names, functions and signals are refused", async () => {
  const wrong = (...args: unknown[]) => expect(() => new Breaker(...(args as [Store, BreakerOptions])));
  wrong(undefined, RULE).toThrow(/store is undefined; it must be a store .*, or "local"/);
  wrong("remote", RULE).toThrow(/store is "remote"/);
  wrong(memoryStore(), { ...RULE, name: "\ud800" }).toThrow(/surrogates/);
  wrong(memoryStore(), null).toThrow(/options is null/);
  const breaker = new Breaker("local", { span: "1s", failures: 1 });
  await expect(breaker.run(5 as never)).rejects.toThrow(/fn is 5; it must be a function/);
  await expect(breaker.run(() => 1, { signal: {} as AbortSignal })).rejects.toThrow(/signal is an object/);
  await expect(breaker.run(() => 1, { timeout: 5 } as never)).rejects.toThrow(/option is "timeout"/);
  await expect(breaker.run(() => 1, { fallback: 5 as never })).rejects.toThrow(/"local" run: fallback is 5/);
  expect(breaker.stats()).toMatchObject({ calls: 0, failures: 0 });
});

test.each([
  ["open", { for: 0 }, /open: for is 0; it must be a duration from 1 ms to 604800000 ms \(7d\)/],
  ["open", { for: "8d" }, /open: for is "8d"/],
  ["close", { for: "soon" }, /close: for is "soon"/],
  ["close", { until: 5 }, /close: option is "until"; it must be one of for/],
  ["open", 5, /open: options is 5/],
] as const)("%s(%o) is refused, and changes nothing", async (order, options, message) => {
  const store = memoryStore();
  const breaker = new Breaker(store, RULE);
  const error = { code: "ARGUMENT", message: expect.stringMatching(message) };
  await expect(breaker[order](options as never)).rejects.toMatchObject(error);
  expect(store.sizeBytes).toBe(0);
  expect(breaker.stats()).toMatchObject({ state: "closed", forcedMs: 0 });
});

test("the tick is 1 s for a window of a day and 1 ms for a minute; calls between two ticks belong to the first", async () => {
  let nowMs = 0;
  const breaker = new Breaker("local", { span: "1d", failures: 2, monotonic: () => nowMs });
  const fail = () => breaker.run(() => Promise.reject(new Error("bad"))).catch(() => {});
  nowMs = 1999;
  await fail();
  nowMs = 86_400_000 + 999;
  expect(breaker.stats().failures).toBe(1);
  nowMs++;
  expect(breaker.stats().failures).toBe(0);
});
