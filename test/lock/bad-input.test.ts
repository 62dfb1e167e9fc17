import { describe, expect, test } from "vitest";
import { Lock, memoryStore } from "../../src/entries/index.ts";
import { lockKeyOf } from "../../src/holds/lock/lock-state.ts";

const store = memoryStore();
const lock = new Lock(store, "nightly");
const isArgument = (message: RegExp) =>
  expect.objectContaining({ code: "ARGUMENT", message: expect.stringMatching(message) });

describe("wrong arguments are refused with value, bound and unit before any request", () => {
  test.each([
    [{ lease: 9 }, /lease is 9; .* from 10 ms to 2147483647 ms/],
    [{ lease: 0 }, /lease is 0/],
    [{ lease: Number.NaN }, /lease is NaN/],
    [{ lease: "1 hour" }, /lease is "1 hour"/],
    [{ lease: 2 ** 31 }, /lease is 2147483648/],
    [{ lease: null }, /lease is null/],
    [{ wait: -1 }, /wait is -1; .* from 0 ms to 2147483647 ms/],
    [{ wait: Number.POSITIVE_INFINITY }, /wait is Infinity/],
    [{ wait: "25d" }, /wait is "25d"/],
    [{ signal: {} }, /signal is an object; it must be an AbortSignal/],
    [{ waits: 1 }, /option is "waits"; it must be one of wait, lease, signal/],
    [null, /options is null/],
  ])("%o", async (options, message) => {
    await expect(lock.tryLock(options as never)).rejects.toEqual(isArgument(message));
    let hasRun = false;
    const run = () => {
      hasRun = true;
    };
    await expect(lock.withLock(run, options as never)).rejects.toEqual(isArgument(message));
    expect(hasRun).toBe(false);
    expect(store.entryOf(lockKeyOf(store, "nightly"))).toBeUndefined();
  });

  test("of the constructor and of extend are refused", async () => {
    for (const [name, options, message] of [
      [7, {}, /name is 7/],
      ["\ud800", {}, /name/],
      ["a", { watchdogLease: 5 }, /watchdogLease is 5; .* from 10 ms/],
      ["a", { lease: 5 }, /option is "lease"; it must be one of watchdogLease/],
    ] as const)
      expect(() => new Lock(store, name as string, options as never)).toThrowError(isArgument(message));
    const held = await lock.tryLock({ lease: "60s" });
    await expect(held!.extend(5)).rejects.toEqual(isArgument(/lease is 5; .* from 10 ms/));
    expect(await held!.release()).toBe(true);
  });

  test("a full memory store refuses, and nothing of the lock remains", async () => {
    const full = memoryStore({ maxBytes: 64 });
    await expect(new Lock(full, "nightly").tryLock()).rejects.toMatchObject({ code: "OVERLOADED" });
    expect(full.sizeBytes).toBe(0);
  });
});
