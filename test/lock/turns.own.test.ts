import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lock, memoryStore } from "../../src/entries/index.ts";
import { MAX_PLACES, TRIAL_MS } from "../../src/generated/layouts/hold.ts";
import { lockKeyOf } from "../../src/holds/lock/lock-state.ts";
import type { Ticket } from "../../src/holds/steps/state.ts";
import { leave, look, take } from "../../src/holds/steps/steps.ts";
import type { Store } from "../../src/store/contract.ts";
import type { MemoryStore } from "../../src/store/memory/memory.ts";

/** After a trial the releasing process looks whether it was missed. */
const LOOK_AFTER_MS = TRIAL_MS + 10;
/** A waiter that hears nothing asks at least this often. */
const LONGEST_MS = 16_000;

let server: MemoryStore;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) });
  server = memoryStore({ clock: () => Date.now() });
});
afterEach(() => void vi.useRealTimers());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A process that waits for the lock from now on, holds it for a ms, and reports when it got it. */
function waiting(got: string[], name: string, lease = 60_000) {
  const process = { isDead: false, isDeaf: false, gotAtMs: Number.NaN, abort: new AbortController() };
  const store: Store = {
    ...server,
    run: (...call: Parameters<Store["run"]>) => (process.isDead ? new Promise(() => {}) : server.run(...call)) as never,
    subscribe: (channel, listener) =>
      server.subscribe!(channel, (message) => process.isDead || process.isDeaf || listener(message)),
  };
  const lock = new Lock(store, "nightly");
  const run = async () => {
    const held = await lock.tryLock({ wait: "60s", lease, signal: process.abort.signal }).catch(() => null);
    if (!held) return;
    process.gotAtMs = Date.now();
    got.push(name);
    await sleep(1);
    await held.release();
  };
  return Object.assign(process, { done: run(), again: run });
}

async function heldByAnother() {
  const held = (await new Lock({ ...server }, "nightly").tryLock({ lease: "60s" }))!;
  return async () => {
    await held.release();
    return Date.now();
  };
}

const state = () => server.run(look, lockKeyOf(server, "nightly"), undefined);

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

test("a release passes the lock on at once, and no later caller gets it in between", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const processes = names.map((name) => waiting(got, name));
  await pass(10);
  const freeMs = await free();
  const late = new Lock({ ...server }, "nightly");
  for (let ms = 0; ms < names.length; ms++) {
    expect(await late.tryLock()).toBeNull();
    await pass(1);
  }
  expect(got).toEqual(names);
  expect(processes.map(({ gotAtMs }) => gotAtMs - freeMs)).toEqual(names.map((_, i) => i));
  expect(await late.tryLock()).not.toBeNull();
});

test("a granted process that is dead costs 150 ms, once", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const [dead, second, third] = ["dead", "second", "third"].map((name) => waiting(got, name));
  await pass(10);
  dead!.isDead = true;
  const freeMs = await free();
  await pass(1000);
  expect(got).toEqual(["second", "third"]);
  expect(second!.gotAtMs - freeMs).toBeLessThanOrEqual(LOOK_AFTER_MS + 2);
  expect(third!.gotAtMs - second!.gotAtMs).toBe(1);
});

test("a lost message costs its process the turn, and the others 150 ms; it asks again by itself", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const [deaf, second] = ["deaf", "second"].map((name) => waiting(got, name));
  await pass(10);
  deaf!.isDeaf = true;
  const freeMs = await free();
  await pass(LONGEST_MS);
  expect(second!.gotAtMs - freeMs).toBeLessThanOrEqual(LOOK_AFTER_MS + 2);
  expect(got).toEqual(["second", "deaf"]);
});

test("any number of dead processes costs one trial together", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const dead = names.map((name) => waiting(got, name));
  const alive = [waiting(got, "alive"), waiting(got, "alive too")];
  await pass(10);
  for (const each of dead) each.isDead = true;
  const freeMs = await free();
  await pass(1000);
  expect(got).toEqual(["alive", "alive too"]);
  expect(alive[0]!.gotAtMs - freeMs).toBeLessThanOrEqual(LOOK_AFTER_MS + 2);
  expect(alive[1]!.gotAtMs - alive[0]!.gotAtMs).toBe(1);
});

test("a holder dies, and the first waiter has died too: that costs the lease and one trial", async () => {
  const got: string[] = [];
  await new Lock({ ...server }, "nightly").tryLock({ lease: 1000 });
  const endMs = Date.now() + 1000;
  const [dead, alive] = ["dead", "alive"].map((name) => waiting(got, name));
  await pass(10);
  dead!.isDead = true;
  await pass(2000);
  expect(got).toEqual(["alive"]);
  expect(alive!.gotAtMs).toBeGreaterThan(endMs);
  expect(alive!.gotAtMs - endMs).toBeLessThanOrEqual(LOOK_AFTER_MS + 2);
});

test("a holder that has got the lock by a release dies: the next asks by itself after 16 s at the latest", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const [dies, second] = ["dies", "second", "third"].map((name) => waiting(got, name, LONGEST_MS / 2));
  await pass(10);
  const freeMs = await free();
  await pass(0);
  expect(got).toEqual(["dies"]);
  dies!.isDead = true;
  await pass(LONGEST_MS);
  expect(got).toEqual(["dies", "second", "third"]);
  expect(second!.gotAtMs - freeMs).toBeGreaterThan(LONGEST_MS / 2);
});

test("a waiter that gives up leaves its place", async () => {
  const got: string[] = [];
  const free = await heldByAnother();
  const [gone, second] = ["gone", "second"].map((name) => waiting(got, name));
  await pass(10);
  gone!.abort.abort(new RangeError("enough"));
  await pass(1);
  expect((await state()).places).toHaveLength(1);
  const freeMs = await free();
  await pass(10);
  expect(second!.gotAtMs).toBe(freeMs);
  expect(await state()).toMatchObject({ holds: [], places: [] });
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

test("a freed lock is on trial for 150 ms for the first waiter; a waiter that gives up then passes it on", async () => {
  const key = lockKeyOf(server, "nightly");
  const [holder, a, b, late] = ["h", "a", "b", "l"].map((each) => each.repeat(14)) as [string, string, string, string];
  const tokenOf = (process: string) => `${process}000000`;
  const ask = (process: string, mayWait = true) => {
    const tickets = [{ token: tokenOf(process), permits: 1, limit: 1, leaseMs: 1000 }];
    return server.run(take, key, { process, tickets, mayWait, isGuess: false });
  };
  const free = (process: string) => server.run(leave, key, { process, token: tokenOf(process), number: undefined });
  const called: string[] = [];
  for (const process of [a, b])
    server.subscribe!(`${key}:${process}`, (message) => called.push(`${process[0]} ${message}`));
  await pass(0);
  called.length = 0;

  expect((await ask(holder)).granted).toHaveLength(1);
  expect([await ask(a), await ask(b)]).toMatchObject([
    { granted: [], nextMs: 1001 },
    { granted: [], nextMs: 1001 },
  ]);
  expect(await free(holder)).toMatchObject({ isReleased: true, begunTrials: 1, granted: [] });
  await pass(0);
  expect(called).toEqual(["a 1"]);
  expect([await ask(late, false), await ask(b)]).toMatchObject([{ granted: [] }, { granted: [] }]);
  expect(await free(a)).toMatchObject({ isReleased: true, begunTrials: 1, granted: [] });
  await pass(0);
  expect(called).toEqual(["a 1", "b 1"]);
  expect((await ask(late, false)).granted).toEqual([]);
  // The confirmation gives b its whole lease, from now on.
  await pass(TRIAL_MS);
  expect((await ask(b)).granted).toHaveLength(1);
  expect((await state()).holds).toMatchObject([{ endMs: Date.now() + 1000, isOnTrial: false }]);

  await ask(a);
  await free(b);
  await pass(TRIAL_MS);
  expect((await ask(late, false)).granted).toEqual([]);
  await pass(1);
  expect((await ask(late, false)).granted).toHaveLength(1);
});

test("the number of places is bounded, and a waiter that has none is served when it asks again", async () => {
  const key = lockKeyOf(server, "nightly");
  const process = "a".repeat(14);
  const ticketOf = (i: number) => ({
    token: process + String(i).padStart(6, "0"),
    permits: 1,
    limit: 1,
    leaseMs: 1000,
  });
  const ask = (i: number) => server.run(take, key, { process, tickets: [ticketOf(i)], mayWait: true, isGuess: false });
  const count = MAX_PLACES + 3;
  for (let i = 0; i < count; i++) await ask(i);
  expect((await state()).places).toEqual(Array.from({ length: MAX_PLACES }, (_, i) => ticketOf(i + 1)));
  for (let i = 0; i <= MAX_PLACES; i++)
    await server.run(leave, key, { process, token: ticketOf(i).token, number: undefined });
  expect(await state()).toMatchObject({ holds: [], places: [] });
  expect((await ask(count - 1)).granted).toHaveLength(1);
});

test("a message is for the caller that has the first place, also if another caller of its process came first", async () => {
  const free = await heldByAnother();
  const key = lockKeyOf(server, "nightly");
  const late = { fromCall: Number.POSITIVE_INFINITY, calls: 0, send: () => {} };
  const sent = new Promise<void>((resolve) => {
    late.send = resolve;
  });
  const store: Store = {
    ...server,
    async run(...call: Parameters<Store["run"]>) {
      if (late.calls++ === late.fromCall) await sent;
      return server.run(...call) as never;
    },
  };
  const lock = new Lock(store, "nightly");
  const got: string[] = [];
  const wait = (name: string) =>
    lock.tryLock({ wait: "60s", lease: "60s" }).then((held) => {
      got.push(name);
      return held!.release();
    });
  void wait("first");
  await pass(10);
  // The request of the second is under way when the place of the first is lost.
  late.fromCall = late.calls;
  void wait("second");
  await pass(10);
  const [first] = (await state()).places;
  await server.run(leave, key, { process: first!.token.slice(0, -6), token: first!.token, number: undefined });
  late.send();
  await pass(10);
  expect((await state()).places).toHaveLength(1);
  await free();
  await pass(TRIAL_MS - 10);
  expect(got[0]).toBe("second");
  await pass(20_000);
  expect(got).toEqual(["second", "first"]);
});

/** A process that notes its requests, so that a copy can come late. */
function noting() {
  const asked: Parameters<typeof server.run>[] = [];
  const run = (...call: Parameters<typeof server.run>) => {
    if (call[0] === take) asked.push(call);
    return server.run(...call);
  };
  return { asked, store: { ...server, run: run as Store["run"] } };
}

test("a late copy of a request, whose caller has left, keeps no other caller of its process waiting", async () => {
  const { asked, store } = noting();
  const lock = new Lock(store, "nightly");
  const held = (await lock.tryLock({ lease: "60s" }))!;
  const abort = new AbortController();
  const left = lock.tryLock({ wait: "60s", lease: "60s", signal: abort.signal }).catch(() => "left");
  await pass(10);
  abort.abort();
  expect(await left).toBe("left");
  await pass(10);
  await server.run(...asked.at(-1)!);
  const next = lock.tryLock({ wait: "60s" });
  await pass(10);
  expect((await state()).places).toHaveLength(2);
  await held.release();
  await pass(10);
  expect((await state()).holds).toMatchObject([
    { token: (asked.at(-1)![2] as { tickets: Ticket[] }).tickets[0]!.token },
  ]);
  await (await next)!.release();
});

test("without messages newcomers do not put off the next request of those before them", async () => {
  const { asked, store } = noting();
  await heldByAnother();
  const lock = new Lock({ ...store, subscribe: undefined }, "nightly");
  for (let i = 0; i < 5; i++) {
    void lock.tryLock({ wait: "60s" });
    await pass(50);
  }
  expect(asked.map((call) => (call[2] as { tickets: Ticket[] }).tickets.length)).toEqual(
    expect.arrayContaining([1, 2, 3, 4, 5]),
  );
  expect(asked.length).toBeLessThan(10);
});

test("a waiter is refused as soon as its store is closed, not when it looks again", async () => {
  await heldByAnother();
  const wait = new Lock(server, "nightly").tryLock({ wait: "60s" }).catch((error) => error);
  for (let turn = 0; turn < 20; turn++) await undefined;
  await server.close();
  expect(await wait).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("the store is closed") });
});
