// A caller passes its own optional signal on without a check.
import { expect, expectTypeOf, test } from "vitest";
import {
  Breaker,
  type Decision,
  DelayQueue,
  type HeldLock,
  Limiter,
  Lock,
  memoryStore,
  Series,
  slidingWindow,
} from "../../../src/entries/index.ts";

const store = memoryStore();
const series = new Series(store, "s", {});
const limiter = new Limiter(store, [slidingWindow({ limit: 9, span: "1m" })], { name: "l" });
const lock = new Lock(store, "k");
const queue = new DelayQueue(store, "q");
const breaker = new Breaker("local", { span: "10s", failures: 3 });

/** What each method resolves with, called with the same options. */
const calls = {
  record: (signal?: AbortSignal) => series.record(1, { signal }),
  recordMany: (signal?: AbortSignal) => series.recordMany([1, 2], { signal }),
  recordAndGet: (signal?: AbortSignal) => series.recordAndGet(1, { signal, percentiles: [99] }),
  stats: (signal?: AbortSignal) => series.stats({ signal, span: "1m", at: undefined, percentiles: [50, 99] }),
  values: (signal?: AbortSignal) => series.values({ signal }),
  fractionBelow: (signal?: AbortSignal) => series.fractionBelow(2, { signal }),
  take: (signal?: AbortSignal) => limiter.take("id", { signal, cost: undefined }),
  peek: (signal?: AbortSignal) => limiter.peek("id", { signal }),
  acquire: (signal?: AbortSignal) => limiter.acquire("id", { signal, wait: "1s" }),
  tryLock: (signal?: AbortSignal) => lock.tryLock({ signal, lease: "1s" }),
  run: (signal?: AbortSignal) => breaker.run(() => 1, { signal }),
  runWithFallback: (signal?: AbortSignal) => breaker.run(() => 1, { signal, fallback: () => null }),
};

test.each(Object.entries(calls))("%s takes a signal, and undefined in its place", async (_, call) => {
  await call(undefined);
  await call(new AbortController().signal);
  await expect(call(AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});

test("the options keep the types of the results", () => {
  expectTypeOf<Awaited<ReturnType<typeof calls.stats>>["percentiles"]>().toEqualTypeOf<Record<50 | 99, number>>();
  expectTypeOf<Awaited<ReturnType<typeof calls.recordAndGet>>["percentiles"]>().toEqualTypeOf<Record<99, number>>();
  expectTypeOf<Awaited<ReturnType<typeof calls.take>>>().toEqualTypeOf<Decision>();
  expectTypeOf<Awaited<ReturnType<typeof calls.tryLock>>>().toEqualTypeOf<HeldLock | null>();
  expectTypeOf<Awaited<ReturnType<typeof calls.run>>>().toEqualTypeOf<number>();
  expectTypeOf<Awaited<ReturnType<typeof calls.runWithFallback>>>().toEqualTypeOf<number | null>();
});

test("a worker takes a signal, and undefined in its place", async () => {
  for (const signal of [undefined, new AbortController().signal]) {
    const worker = queue.process(() => {}, { signal, concurrency: undefined });
    await worker.close();
  }
});
