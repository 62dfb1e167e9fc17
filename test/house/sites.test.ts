import { expect, test } from "vitest";
import { Listeners } from "../../src/base/async/listeners.ts";
import { didYouMean } from "../../src/base/did-you-mean.ts";
import { argumentError, checkKnown, corruptError, OrielError } from "../../src/base/errors.ts";
import { Site } from "../../src/base/site.ts";
import {
  Counters,
  Limiter,
  Lock,
  LockedWindow,
  memoryStore,
  SeriesGroup,
  type Store,
  slidingWindow,
} from "../../src/entries/index.ts";

const site = new Site("Series", "api:latency", { address: "db:6379" });

test("an error of a place names structure, name, operation and server, and keeps its other fields", () => {
  const cause = new Error("ECONNREFUSED");
  const inner = new OrielError("UNAVAILABLE", "no", { cause, transient: true, applied: "unknown", retryAfterMs: 7 });
  const reported = site.error("record", inner) as OrielError;
  expect(reported.message).toBe('Series "api:latency" record: no (redis at db:6379)');
  const where = { structure: "Series", structureName: "api:latency", operation: "record", address: "db:6379" };
  expect(reported).toMatchObject({
    code: "UNAVAILABLE",
    transient: true,
    applied: "unknown",
    retryAfterMs: 7,
    ...where,
  });
  expect(reported.cause).toBe(cause);
  expect(reported.help).toMatch(/\/docs\/errors\.md#unavailable$/);
  expect(site.error("record", reported)).toBe(reported);
  expect((new Site("FleetMetrics", "shop").outer("read", reported) as OrielError).message).toBe(
    'FleetMetrics "shop" read: no (redis at db:6379)',
  );
  const reason = new Error("the caller's own");
  expect(site.error("record", reason)).toBe(reason);
});

test("a wrong argument names no server", () => {
  const reported = site.error("record", argumentError("value", {}, "a number")) as OrielError;
  expect(reported.message).toBe('Series "api:latency" record: value is an object; it must be a number');
  expect(reported.address).toBe(undefined);
});

test("the stack includes the line of the awaiting caller", async () => {
  const failed = site.thrower("take");
  const inner = async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    throw new OrielError("UNAVAILABLE", "no");
  };
  async function theCaller() {
    await inner().catch(failed);
  }
  await expect(theCaller()).rejects.toThrow(expect.objectContaining({ stack: expect.stringContaining("theCaller") }));
});

test("damage names the key and the decoding error", () => {
  const cause = new SyntaxError("Unexpected token");
  expect(corruptError("oriel:{x}", "its chunk is no chunk", { cause })).toMatchObject({
    code: "CORRUPT",
    message: 'the value of the key "oriel:{x}" is damaged: its chunk is no chunk (Unexpected token)',
    cause,
    applied: "no",
  });
});

test.each([
  ["retension", "retention"],
  ["Retention", "retention"],
  ["deadlineMs", "deadline"],
  ["complete", "completed"],
  ["opend", "open"],
  ["percentile", "percentiles"],
  ["xyz", undefined],
  ["x".repeat(1e6), undefined],
])("%.20s: did you mean %s", (given, meant) => {
  const known = ["retention", "deadline", "completed", "open", "percentiles"];
  expect(didYouMean(given, known)).toBe(meant === undefined ? "" : `; did you mean "${meant}"?`);
});

test("unknown options and events are refused with the likely right name", () => {
  expect(() => checkKnown({ spam: 1 }, ["span"])).toThrow(
    'option is "spam"; it must be one of span; did you mean "span"?',
  );
  expect(() => checkKnown(5 as never, ["span"])).toThrow("options is 5; it must be an object with span");
  const listeners = new Listeners<{ completed: number }>(new Site("QueueWorker", "mail"), { completed: true });
  expect(() => listeners.on("complete" as never, () => {})).toThrow(
    'QueueWorker "mail" on: event is "complete"; it must be one of completed; did you mean "completed"?',
  );
  expect(() => listeners.on("completed", undefined as never)).toThrow(/listener is undefined; it must be a function/);
  for (const name of ["constructor", "__proto__", 5, Symbol("a")])
    expect(() => listeners.on(name as never, () => {})).toThrow(/event is/);
  const heard: number[] = [];
  listeners.on("completed", (n) => heard.push(n))();
  listeners.on("completed", (n) => heard.push(2 * n));
  listeners.emit("completed", 3);
  expect(heard).toEqual([6]);
});

test("each public method of a structure rejects with a stack that includes the caller's line", async () => {
  const away = { ...memoryStore(), run: async () => Promise.reject(new OrielError("UNAVAILABLE", "no")) } as Store;
  const lock = new Lock(away, "a");
  const limiter = new Limiter(away, [slidingWindow({ limit: 1, span: 1000 })], { name: "a" });
  const counters = new Counters(away, "a", { dimensions: ["a"], shards: 1 });
  const group = new SeriesGroup(away, "a", { labels: ["a"] });
  const window = new LockedWindow(away, "a", { span: 1000 });
  const calls: Record<string, () => Promise<unknown>> = {
    'Lock "a" tryLock': () => lock.tryLock(),
    'Lock "a" withLock': () => lock.withLock(() => 1, { wait: 0 }),
    'Limiter "a" take': () => limiter.take("x"),
    'Limiter "a" peek': () => limiter.peek("x"),
    'Limiter "a" penalty': () => limiter.penalty("x"),
    'Limiter "a" reserve': () => limiter.reserve("x", { cost: 1, lease: 1000 }),
    'Limiter "a" reserveAll': () => Limiter.reserveAll([{ limiter, id: "x" }], { tag: "t", lease: 1000 }),
    'Limiter "a" takeAll': () => Limiter.takeAll([{ limiter, id: "x" }], { tag: "t" }),
    'Counters "a" add': () => counters.add({ a: "1" }),
    'Counters "a" addBatch': () => counters.addBatch("s", 0, [{ values: { a: "1" } }]),
    'Counters "a" read': () => counters.read(),
    'LockedWindow "a" addAndGetStats': () => window.addAndGetStats(1),
    'LockedWindow "a" stats': () => window.stats(),
    'SeriesGroup "a" stats': () => group.stats(),
    'SeriesGroup "a" record': () => group.record(1, { a: "b" }),
  };
  for (const [where, call] of Object.entries(calls)) {
    async function theCaller() {
      await call();
    }
    const error = await theCaller().then(
      () => expect.fail(where),
      (reason: OrielError) => reason,
    );
    expect(error.message).toBe(`${where}: no`);
    expect(error.stack, where).toContain("theCaller");
  }
});
