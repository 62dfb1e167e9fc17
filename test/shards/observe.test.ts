import { afterEach, expect, test, vi } from "vitest";
import { memoryStore, OrielError, ShardedSeries, type StoreFailure } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { until } from "../harness/until.ts";

afterEach(() => vi.restoreAllMocks());

test("observe neither waits nor throws; what fails is reported with its number", async () => {
  const memory = memoryStore();
  const reported: StoreFailure[] = [];
  let isCut = true;
  const store: Store = {
    ...memory,
    monotonic: memory.monotonic,
    leaseClock: memory.leaseClock,
    report: (failure) => void reported.push(failure),
    run: (operation, key, input, options) =>
      isCut
        ? Promise.reject(new OrielError("UNAVAILABLE", "cut off", { transient: true, applied: "no" }))
        : memory.run(operation, key, input, options),
  };
  const series = new ShardedSeries(store, "s", { shards: 2 });
  // Not noted yet.
  series.observe(1);
  await until("it is reported", () => reported.length === 1);
  isCut = false;
  series.observe(2);
  await until("it is there", async () => (await series.stats()).count === 1);
  series.observe(3);
  series.observe(4, { at: Date.now() });
  await until("they are there", async () => (await series.stats()).count === 3);
  series.observe(Number.NaN);
  series.observe("x" as never, { at: 0 });
  await until("wrong arguments are reported", () => reported.length === 3);
  isCut = true;
  for (let i = 0; i < 5; i++) series.observe(5);
  await until("all are reported", () => reported.reduce((sum, { count }) => sum + count, 0) === 8);
  await series.close();
  series.observe(6);
  await until("a call after close is reported", () => reported.reduce((sum, { count }) => sum + count, 0) === 9);
  for (const { error } of reported) expect(error.message).toMatch(/^ShardedSeries "s" observe: /);
  expect(reported.map(({ error }) => error.code)).toEqual(
    expect.arrayContaining(["UNAVAILABLE", "ARGUMENT", "UNAVAILABLE"]),
  );
});
