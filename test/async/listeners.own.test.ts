import { afterEach, beforeEach, expect, test } from "vitest";
import { Listeners } from "../../src/base/async/listeners.ts";
import { OrielError } from "../../src/base/errors.ts";
import { Site } from "../../src/base/site.ts";
import { Breaker, FleetMetrics, memoryStore } from "../../src/entries/index.ts";
import { until } from "../harness/until.ts";

interface Events {
  done: number;
  error: { error: OrielError };
}

const warnings: string[] = [];
const strays: unknown[] = [];
const onWarning = (warning: Error) => void warnings.push(warning.message);
const onStray = (error: unknown) => void strays.push(error);
beforeEach(() => {
  process.on("warning", onWarning).on("unhandledRejection", onStray).on("uncaughtException", onStray);
});
afterEach(() => {
  process.off("warning", onWarning).off("unhandledRejection", onStray).off("uncaughtException", onStray);
  expect(strays).toEqual([]);
  warnings.length = 0;
});

const turnOfLoop = () => new Promise((resolve) => setTimeout(resolve, 0));
const made = () =>
  new Listeners<Events>(new Site("QueueWorker", "mail"), { done: true, error: true }, (error) => ({ error }));

const wrong = new TypeError("listener");
// biome-ignore lint/suspicious/noThenProperty: a promise of another library
const foreign = { then: (_: unknown, reject: (error: unknown) => void) => reject(wrong) };
// biome-ignore lint/suspicious/noThenProperty: a value that is hostile to promises
const badGetter = Object.defineProperty({}, "then", {
  get() {
    throw wrong;
  },
});
const failing: [how: string, listener: () => unknown][] = [
  [
    "throws",
    () => {
      throw wrong;
    },
  ],
  ["is async and rejects", async () => Promise.reject(wrong)],
  ["rejects later", () => turnOfLoop().then(() => Promise.reject(wrong))],
  ["returns a foreign promise that rejects", () => foreign],
  ["returns a value whose getter throws", () => badGetter],
];

test.each(failing)("the error of a listener that %s reaches `error`, and no other listener", async (_how, listener) => {
  const listeners = made();
  const heard: unknown[] = [];
  const errors: OrielError[] = [];
  listeners.on("done", listener as () => void);
  listeners.on("done", (n) => heard.push(n));
  listeners.on("error", ({ error }) => void errors.push(error));
  expect(listeners.emit("done", 5)).toBe(true);
  expect(heard).toEqual([5]);
  await until("the error is reported", () => errors.length > 0);
  expect(errors).toEqual([expect.objectContaining({ code: "ARGUMENT", transient: false, cause: wrong })]);
  expect(errors[0]!.message).toBe('QueueWorker "mail" on: the listener of "done" failed: TypeError: listener');
  await turnOfLoop();
  expect(warnings).toEqual([]);
});

test.each(failing)("without an `error` listener, the process is warned once of one that %s", async (_how, listener) => {
  const listeners = made();
  listeners.on("done", listener as () => void);
  for (let i = 0; i < 3; i++) listeners.emit("done", i);
  await until("the warning is there", () => warnings.length > 0);
  await turnOfLoop();
  expect(warnings).toEqual(['QueueWorker "mail" on: the listener of "done" failed: TypeError: listener']);
});

test.each(failing)("an `error` listener that %s is not called for its own error", async (_how, listener) => {
  const listeners = made();
  let calls = 0;
  const own = () => {
    calls++;
    return listener();
  };
  const heard: unknown[] = [];
  listeners.on("error", own as () => void);
  listeners.on("error", ({ error }) => void heard.push(error));
  const first = new OrielError("UNAVAILABLE", "away");
  for (let i = 0; i < 3; i++) listeners.emit("error", { error: first });
  await until("the warning is there", () => warnings.length > 0);
  await turnOfLoop();
  expect(calls).toBe(3);
  expect(heard).toEqual([first, first, first]);
  expect(warnings).toEqual(['QueueWorker "mail" on: the listener of "error" failed: TypeError: listener']);
});

test("one function that fails for all events ends nothing, and its error text may be anything", async () => {
  const listeners = made();
  const thrown = [undefined, null, Symbol("s"), Object.create(null), "y".repeat(1 << 20)];
  let at = 0;
  for (let i = 0; i < thrown.length; i++) {
    const fail = () => {
      throw thrown[at++ % thrown.length];
    };
    listeners.on("done", fail);
    listeners.on("error", fail);
    listeners.emit("done", i);
  }
  await until("each `error` listener has warned", () => warnings.length === thrown.length);
  for (const warning of warnings) expect(warning.length).toBeLessThan(1200);
});

test("the listeners of a breaker, a store and fleet metrics do the same", async () => {
  const store = memoryStore();
  const errors: unknown[] = [];
  const breaker = new Breaker("local", { name: "api", span: "1m", failures: 1 });
  for (const event of ["open", "reject"] as const) breaker.on(event, async () => Promise.reject(wrong));
  breaker.on("error", ({ error }) => void errors.push(String(error)));
  const fail = () => Promise.reject(new Error("no"));
  await expect(breaker.run(fail)).rejects.toThrow("no");
  await expect(breaker.run(fail)).rejects.toMatchObject({ code: "OPEN" });
  await until("both are reported", () => errors.length === 2);
  expect(errors).toEqual(
    ["open", "reject"].map(
      (event) => `OrielError: Breaker "api" on: the listener of "${event}" failed: TypeError: listener`,
    ),
  );
  store.on("error", () => {
    throw wrong;
  });
  expect(() => store.report!({ error: new OrielError("UNAVAILABLE", "away"), count: 1 })).not.toThrow();
  const fleet = new FleetMetrics(store, "fleet");
  fleet.on("error", () => {
    throw wrong;
  });
  await until("the store has warned", () => warnings.length === 1);
  expect(warnings).toEqual(['memoryStore on: the listener of "error" failed: TypeError: listener']);
  await fleet.close();
  await store.close();
});
