import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lock, memoryStore } from "../../src/entries/index.ts";
import { MAX_PLACES, PLACE_LIFE_MS, RESERVATION_MS } from "../../src/generated/layouts/lock.ts";
import { acquire } from "../../src/lock/steps/acquire.ts";
import { lockKeyOf, queueKeyOf } from "../../src/lock/steps/keys.ts";
import { leave } from "../../src/lock/steps/leave.ts";
import { release } from "../../src/lock/steps/release.ts";
import type { Store } from "../../src/store/contract.ts";
import type { MemoryStore } from "../../src/store/memory/memory.ts";

/** A process that waits asks at least this often. */
const RENEW_MS = PLACE_LIFE_MS / 2;

let server: MemoryStore;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) });
  server = memoryStore({ clock: () => Date.now() });
});
afterEach(() => void vi.useRealTimers());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A process that waits for the lock from now on, holds it for a ms, and reports when it got it. */
function waiting(got: string[], name: string) {
  const process = { isDead: false, isDeaf: false, gotAtMs: Number.NaN, abort: new AbortController() };
  const store: Store = {
    ...server,
    run: (...call: Parameters<Store["run"]>) => (process.isDead ? new Promise(() => {}) : server.run(...call)) as never,
    subscribe: (channel, listener) => server.subscribe!(channel, () => process.isDead || process.isDeaf || listener()),
  };
  const lock = new Lock(store, "nightly");
  const run = async () => {
    const held = await lock.tryLock({ wait: "60s", lease: "60s", signal: process.abort.signal }).catch(() => null);
    if (!held) return;
    process.gotAtMs = Date.now();
    got.push(name);
    await sleep(1);
    await held.release();
  };
  return Object.assign(process, { done: run(), again: run });
}

async function heldByAnother() {
  const held = (await new Lock(server, "nightly").tryLock({ lease: "60s" }))!;
  return async () => {
    await held.release();
    return Date.now();
  };
}

const names = Array.from({ length: 20 }, (_, i) => `p${i}`);

test("the lock passes from process to process in order, round and round", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const processes = names.map((name) => waiting(got, name));
  for (const each of processes) void each.done.then(each.again).then(each.again);
  await pass(10);
  await free();
  await pass(100);
  expect(got).toEqual([...names, ...names, ...names]);
});

test("a notified process that is dead costs 150 ms, once", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const [dead, second, third] = ["dead", "second", "third"].map((name) => waiting(got, name));
  await pass(10);
  dead!.isDead = true;
  const freeMs = await free();
  await pass(1000);
  expect(got).toEqual(["second", "third"]);
  expect(second!.gotAtMs - freeMs).toBeLessThanOrEqual(RESERVATION_MS + 2);
  expect(third!.gotAtMs - second!.gotAtMs).toBe(1);
});

test("a lost notification costs its process the turn, but not its place, and the others 150 ms", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const [deaf, second] = ["deaf", "second"].map((name) => waiting(got, name));
  await pass(10);
  deaf!.isDeaf = true;
  const freeMs = await free();
  await pass(RENEW_MS);
  expect(second!.gotAtMs - freeMs).toBeLessThanOrEqual(RESERVATION_MS + 2);
  expect(got).toEqual(["second", "deaf"]);
});

test("with any number of dead waiters, a live one checks within seconds, long before the lease would end", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const dead = names.map((name) => waiting(got, name));
  const alive = waiting(got, "alive");
  await pass(10);
  for (const each of dead) each.isDead = true;
  const freeMs = await free();
  await pass(RENEW_MS);
  expect(got).toEqual(["alive"]);
  expect(alive.gotAtMs - freeMs).toBeLessThan(RENEW_MS);
});

test("a waiter loses its place when its process stops asking", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const dead = names.map((name) => waiting(got, name));
  const alive = waiting(got, "alive");
  await pass(10);
  for (const each of dead) each.isDead = true;
  await pass(PLACE_LIFE_MS + 1);
  const freeMs = await free();
  await pass(10);
  expect(alive.gotAtMs).toBe(freeMs);
});

test("a waiter that gives up leaves its place", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const [gone, second] = ["gone", "second"].map((name) => waiting(got, name));
  await pass(10);
  gone!.abort.abort(new RangeError("enough"));
  await pass(1);
  const freeMs = await free();
  await pass(10);
  expect(second!.gotAtMs).toBe(freeMs);
  expect(server.entryOf(queueKeyOf(lockKeyOf(server, "nightly")))).toBeUndefined();
});

test("a waiter that gives up during its request delays no other waiter", async () => {
  const lock = new Lock(server, "nightly");
  const free = await heldByAnother();
  const before = lock.tryLock({ wait: "60s" });
  await pass(10);
  await free();
  await (await before)!.release();
  await pass(10);
  const abort = new AbortController();
  const [gone, next] = [lock.tryLock({ wait: "60s", signal: abort.signal }), lock.tryLock({ wait: "60s" })];
  const startMs = Date.now();
  const gotAtMs = next.then(() => Date.now());
  abort.abort(new RangeError("enough"));
  await expect(gone).rejects.toThrowError("enough");
  await pass(10_000);
  expect((await gotAtMs) - startMs).toBeLessThan(10);
});

test("a freed lock is reserved for the notified waiter for 150 ms; a waiter that gives up passes it on", async () => {
  const key = lockKeyOf(server, "nightly");
  const [a, b] = ["a".repeat(16), "b".repeat(16)];
  const ask = (id: string) => server.run(acquire, key, { token: `oriel:${id}`, leaseMs: 1000, id });
  const free = (id: string) => server.run(release, key, { token: `oriel:${id}`, id: "", isNext: false });
  const called: string[] = [];
  for (const id of [a, b]) server.subscribe!(`unlock:${key.slice(6)}:${id}`, () => called.push(id));
  await ask("");
  expect([await ask(a), await ask(b)]).toEqual([{ retryInMs: 1001 }, { retryInMs: 1001 }]);
  await pass(0);
  called.length = 0;
  await free("");
  await pass(1);
  expect(called).toEqual([a, b]);
  expect(await ask("")).toEqual({ retryInMs: RESERVATION_MS });
  expect(await ask(b)).toEqual({ retryInMs: RESERVATION_MS });
  await server.run(leave, key, a);
  await pass(0);
  expect(called).toEqual([a, b, b]);
  expect(await ask("")).toEqual({ retryInMs: RESERVATION_MS + 1 });
  expect(await ask(b)).toHaveProperty("fence");
  await ask(a);
  await free(b);
  await pass(RESERVATION_MS + 1);
  expect(await ask("")).toHaveProperty("fence");
});

test("the number of places is bounded", async () => {
  const key = lockKeyOf(server, "nightly");
  for (let i = 0; i <= MAX_PLACES + 1; i++)
    await server.run(acquire, key, { token: `oriel:${i}`, leaseMs: 1000, id: String(i).padEnd(16, "x") });
  expect((server.entryOf(queueKeyOf(key))!.value as string).length).toBe(26 + 29 * MAX_PLACES);
});
