import { afterEach, expect, test, vi } from "vitest";
import { memoryStore, OrielError, Series } from "../../src/entries/index.ts";
import type { StoreFailure } from "../../src/store/health/failures.ts";
import { failureReports } from "../../src/store/health/failures.ts";
import { isWrite, storeWith } from "./contract/changed-store.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A store whose writes fail on demand. */
function scene(options = {}) {
  const failures: StoreFailure[] = [];
  const trouble: { error?: OrielError | undefined } = {};
  const { store, plain } = storeWith(async (name, _key, run) => {
    if (trouble.error && isWrite(name)) throw trouble.error;
    return run();
  });
  const report = (failure: StoreFailure) => void failures.push(failure);
  const series = new Series({ ...store, report }, "s", { values: "float64", ...options });
  return { series, plain, trouble, failures };
}

test("records like `record`, and returns nothing", async () => {
  const { series, failures } = scene();
  expect(series.observe(1)).toBe(undefined);
  for (let value = 2; value <= 100; value++) series.observe(value);
  series.observe(1000, { at: Date.UTC(2100, 0, 1) });
  expect(await series.stats()).toMatchObject({ count: 101, sum: 6050 });
  expect(failures).toEqual([]);
});

test("failures are reported once for each batch, with the number of events and the series", async () => {
  const { series, trouble, failures } = scene();
  await series.record(0);
  trouble.error = new OrielError("UNAVAILABLE", "away", { transient: true });
  for (let value = 1; value <= 10; value++) series.observe(value);
  await expect(series.record(11)).rejects.toMatchObject({ code: "UNAVAILABLE", operation: "record" });
  expect(failures).toMatchObject([
    { count: 10, error: { code: "UNAVAILABLE", structure: "Series", structureName: "s", operation: "observe" } },
  ]);
  expect(failures[0]!.error.message).toBe('Series "s" observe: away');
});

test("wrong arguments and a full outbox are reported, and do not throw", async () => {
  const { series, trouble, failures } = scene({ maxPendingBytes: 1024 });
  await series.record(0);
  series.observe(Number.NaN);
  series.observe("7" as never);
  series.observe(7, { at: "x" as never });
  series.observe(7, { ta: 1 } as never);
  await Promise.resolve().then(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures.map(({ count, error }) => [count, error.code])).toEqual(Array(4).fill([1, "ARGUMENT"]));
  failures.length = 0;
  trouble.error = new OrielError("UNAVAILABLE", "away", { transient: true });
  for (let value = 0; value < 10_000; value++) series.observe(value);
  await series.record(1).catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  const lost = failures.reduce((sum, { count }) => sum + count, 0);
  expect(lost).toBe(10_000);
  expect(failures.filter(({ error }) => error.code === "OVERLOADED").length).toBeGreaterThan(9_000);
});

const failure = (count: number, applied: "no" | "unknown" = "no") => ({
  count,
  error: new OrielError("UNAVAILABLE", 'Series "s" observe: away', { applied }),
});

test("by default a warning reports the first failure at once, then at most once a minute, with a count", () => {
  vi.useFakeTimers();
  const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const report = failureReports();
  report(failure(1));
  for (let i = 0; i < 1000; i++) report(failure(3, "unknown"));
  expect(emitted.mock.calls).toEqual([
    ['1 event was not recorded: Series "s" observe: away', { type: "OrielWarning", code: "UNAVAILABLE" }],
  ]);
  vi.advanceTimersByTime(59_999);
  expect(emitted).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(emitted.mock.calls[1]![0]).toBe('3000 events were maybe not recorded: Series "s" observe: away');
  vi.advanceTimersByTime(600_000);
  expect(emitted).toHaveBeenCalledTimes(2);
  report(failure(2));
  expect(emitted).toHaveBeenCalledTimes(3);
});

test("after a minute the next failure warns although no timer fired, as in Workers", () => {
  vi.useFakeTimers();
  vi.stubGlobal("setTimeout", () => 0);
  const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const report = failureReports();
  report(failure(1));
  vi.advanceTimersByTime(59_000);
  report(failure(2));
  expect(emitted).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  report(failure(3));
  vi.unstubAllGlobals();
  expect(emitted.mock.calls[1]![0]).toMatch(/^5 events were not recorded/);
});

test("a listener for the store's errors receives each failure, and there is no warning", () => {
  const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const store = memoryStore();
  const reported: unknown[] = [];
  const end = store.on("error", (each) => reported.push(each));
  store.report!(failure(2));
  expect(reported).toEqual([failure(2)]);
  expect(emitted).not.toHaveBeenCalled();
  end();
  store.report!(failure(1));
  expect(emitted).toHaveBeenCalledTimes(1);
});

test("without a process object the console prints it", () => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.stubGlobal("process", undefined);
  failureReports()(failure(2));
  vi.unstubAllGlobals();
  expect(warned.mock.calls).toEqual([['OrielWarning: 2 events were not recorded: Series "s" observe: away']]);
});
