import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/entries/memory-store.ts";
import type { Operation } from "../../src/store/contract.ts";
import { append, remove } from "./ops/operations.ts";

/** The size of an entry besides the characters of its key and its value. */
const OWN = 160;

const of = (sizeBytes: number, lifetimeMs = 0) => ({ bytes: new Uint8Array(sizeBytes), maxBytes: 1e9, lifetimeMs });

/** An operation whose local step is the test's own. */
function step<Output>(local: Operation<void, Output>["local"], keysOf?: (key: string) => string[]) {
  return { ...remove, name: "test/own", local, ...(keysOf && { keysOf }) } as unknown as Operation<void, Output>;
}

describe("the bound", () => {
  test("refuses writes that would exceed it; deletions and smaller values are accepted", async () => {
    const store = memoryStore({ maxBytes: 100 + 2 * OWN, prefix: "" });
    await store.run(append, "a", of(60));
    await store.run(append, "b", of(30));
    expect(store.sizeBytes).toBe(92 + 2 * OWN);
    const held = `the store held ${92 + 2 * OWN} of at most ${100 + 2 * OWN} bytes before the call, which needs`;
    await expect(store.run(append, "a", of(9))).rejects.toThrow(`${held} 9 more`);
    for (const run of [store.run(append, "a", of(9)), store.run(append, "c", of(8))])
      await expect(run).rejects.toMatchObject({ code: "OVERLOADED", transient: true, applied: "no" });
    expect(store.sizeBytes).toBe(92 + 2 * OWN);
    expect(store.entryOf("c")).toBeUndefined();
    await store.run(append, "a", of(8));
    expect(store.sizeBytes).toBe(100 + 2 * OWN);
    const shrink = step((keys, key) => keys.set(key, new Uint8Array(10), 10, Number.POSITIVE_INFINITY));
    await store.run(shrink, "a", undefined);
    expect(store.sizeBytes).toBe(42 + 2 * OWN);
    await store.run(remove, "a", undefined);
    expect(store.sizeBytes).toBe(31 + OWN);
  });

  test("counts all writes of a step together", async () => {
    const store = memoryStore({ maxBytes: 100 + 2 * OWN });
    const two = step(
      (keys, key) => {
        keys.set(key, "x", 50, 1e15);
        keys.set(`${key}2`, "y", 50, 1e15);
      },
      (key) => [key, `${key}2`],
    );
    await expect(store.run(two, "a", undefined)).rejects.toMatchObject({ code: "OVERLOADED" });
    expect(store.sizeBytes).toBe(0);
    const swap = step(
      (keys, key) => {
        keys.delete(key);
        keys.set(`${key}2`, "y", 90, 1e15);
      },
      (key) => [key, `${key}2`],
    );
    await store.run(append, "a", of(90));
    await store.run(swap, "a", undefined);
    expect(store.entryOf("a")).toBeUndefined();
    expect(store.sizeBytes).toBe(92 + OWN);
  });

  test("makes room by expired entries, which are removed without a read", async () => {
    let nowMs = 0;
    const store = memoryStore({ clock: () => nowMs, maxBytes: 100_000 + 900 * OWN });
    for (let i = 0; i < 900; i++) await store.run(append, `key${i}`, of(100, 1000));
    nowMs = 1001;
    await store.run(append, "big", of(90_000, 1000));
    expect(store.sizeBytes).toBe(90_003 + OWN);
    for (let i = 0; i < 100; i++) await store.run(append, `k${i}`, of(10, 5));
    nowMs = 1010;
    for (let i = 0; i < 60; i++) await store.run(append, "k", of(1));
    expect(store.sizeBytes).toBeLessThan(90_003 + 70 + 2 * OWN);
  });
});

describe("a step", () => {
  test("that throws after its writes has changed nothing", async () => {
    const store = memoryStore();
    await store.run(append, "a", of(3));
    const before = { ...store.entryOf("a") };
    const failing = step((keys, key) => {
      keys.set(key, "other", 500, 1);
      keys.delete(key);
      throw new Error("afterwards");
    });
    await expect(store.run(failing, "a", undefined)).rejects.toMatchObject({ code: "CORRUPT" });
    expect(store.entryOf("a")).toEqual(before);
    expect(store.sizeBytes).toBe(4 + OWN);
  });

  test("reads its own writes", async () => {
    const store = memoryStore();
    const own = step((keys, key) => {
      keys.set(key, "new", 3, 1e15);
      const written = keys.get(key);
      keys.delete(key);
      return [written, keys.get(key)];
    });
    expect(await store.run(own, "a", undefined)).toEqual(["new", undefined]);
    expect(store.sizeBytes).toBe(0);
  });

  test("must not use a key that it did not declare", async () => {
    const store = memoryStore();
    for (const touch of [
      step((keys) => keys.get("other")),
      step((keys) => keys.set("other", 1, 1, 1)),
      step((keys) => keys.delete("other")),
    ])
      await expect(store.run(touch, "a", undefined)).rejects.toMatchObject({ code: "CORRUPT" });
    expect(store.entryOf("other")).toBeUndefined();
  });

  test("gets whole ms from a fractional clock", async () => {
    const store = memoryStore({ clock: () => 1234.9 });
    expect((await store.run(append, "a", of(1))).nowMs).toBe(1234);
  });
});

test("wrong options throw at once", () => {
  for (const maxBytes of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => memoryStore({ maxBytes })).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
  expect(() => memoryStore({ prefix: "{" })).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
});

test("calls of one turn are of one run, also if the store announces its structures in that turn", async () => {
  let nowMs = 1000;
  const store = memoryStore({ clock: () => nowMs++ });
  const runs: object[] = [];
  store.onTurn!(() => void store.run(append, "announced", of(1)));
  const options = { ranIn: (run: object) => void runs.push(run) };
  await Promise.all([store.run(append, "a", of(1), options), store.run(append, "b", of(1), options)]);
  expect(runs.length).toBe(2);
  expect(runs[1]).toBe(runs[0]);
  expect(store.entryOf("announced")).toBeDefined();
});
