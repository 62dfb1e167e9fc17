import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type HeldLock, Lock, memoryStore } from "../../src/entries/index.ts";
import { TRIAL_MS } from "../../src/generated/layouts/hold.ts";
import type { State } from "../../src/hold/steps/state.ts";
import { lockKeyOf } from "../../src/lock/lock-state.ts";
import type { Store } from "../../src/store/contract.ts";
import { seeds } from "../harness/seeds.ts";
import { Random } from "../simulator/world/random.ts";
import { DEADLINE_MS, randomWeather, unreliableStore } from "./faults/unreliable-store.ts";

const { first, count } = seeds(60);

const WATCHDOG_MS = 900;
const LONGEST_LEASE_MS = 1000;
const TRIES = 12;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) }));
afterEach(() => void vi.useRealTimers());

/** Nothing is lost: for so long at most has nobody the lock while somebody waits, a process that was granted it dying. */
const LONGEST_IDLE_MS = TRIAL_MS + 150;
/** The same after the death of a holder: the others ask when the lease before its own would have ended. */
const LONGEST_IDLE_AFTER_DEATH_MS = LONGEST_LEASE_MS + 150;

/**
 * One schedule: three processes of two callers each, and one that dies somewhere; a server whose clock steps or whose
 * data is lost in some.
 */
async function play(seed: number): Promise<{ grants: number; losses: number; calm: number; violations: string[] }> {
  const random = new Random(seed);
  const violations: string[] = [];
  const check = (holds: boolean, what: string) => holds || violations.push(`seed ${seed}: ${what}`);
  const bad = random.pick([0, 0.02, 0.1, 0.25]);
  const weather = randomWeather(random, bad);
  let aheadMs = 0;
  const server = memoryStore({ clock: () => Date.now() + aheadMs });
  const trouble = random.pick(["none", "none", "clock back", "clock ahead", "data lost"] as const);
  /** Where a lease ends early by the server's clock, or is forgotten, fences alone keep holders apart. */
  const isExclusive = trouble === "none" || trouble === "clock back";

  const grants: { fence: number; isWanted: () => boolean; held: HeldLock }[] = [];
  let losses = 0;
  let waiting = 0;
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  async function holdOnce(lock: Lock, draw: Random): Promise<void> {
    const wait = draw.pick([0, 50, 400, 3000]);
    const lease = draw.pick([undefined, 40, 200, LONGEST_LEASE_MS]);
    const askedMs = Date.now();
    const highestBefore = Math.max(0, ...grants.map((each) => each.fence));
    const abort = draw.chance(0.1) ? new AbortController() : undefined;
    if (abort) setTimeout(() => abort.abort(new RangeError("enough")), draw.int(0, 300));
    if (wait > 0) waiting++;
    const held = await lock.tryLock({ wait, lease, signal: abort?.signal }).finally(() => {
      if (wait > 0) waiting--;
    });
    check(Date.now() - askedMs <= wait + DEADLINE_MS + 5 * 30, `a wait of ${wait} ms took ${Date.now() - askedMs} ms`);
    if (!held) return;
    let isWanted = true;
    check(held.leftMs > 0, "a hold was returned after its lease");
    check(held.fence > highestBefore, `fence ${held.fence} after ${highestBefore}`);
    if (isExclusive) {
      const others = grants.filter((each) => each.isWanted() && each.held.leftMs > 0);
      check(others.length === 0, `two hold: fences ${others.map((each) => each.fence)} and ${held.fence}`);
      check(held.fence > Math.max(0, ...grants.map((each) => each.fence)), "fences not in the order of holds");
    }
    check(!grants.some((each) => each.fence === held.fence), `fence ${held.fence} twice`);
    grants.push({ fence: held.fence, held, isWanted: () => isWanted });
    let lostMs = Number.NaN;
    held.signal.addEventListener("abort", () => {
      lostMs = Date.now();
    });
    const endMs = Date.now() + draw.pick([0, 5, 100, 1500]);
    while (Date.now() < endMs && !held.signal.aborted) {
      await sleep(Math.min(20, Math.max(1, endMs - Date.now())));
      if (draw.chance(0.1)) await held.extend(draw.pick([40, 500])).catch(transientOnly);
      check(held.leftMs > 0 === !held.signal.aborted, "leftMs and signal differ");
    }
    if (held.signal.aborted) {
      losses++;
      check(!Number.isNaN(lostMs), "the signal's listener was not called");
    }
    isWanted = false;
    check(typeof (await held.release().catch(transientOnly)) === "boolean", "release gave no boolean");
    check(held.leftMs === 0, "released and still held");
  }

  function transientOnly(error: unknown): boolean {
    const { name, transient, message } = error as { name: string; transient?: boolean; message: string };
    check(message === "enough" || (name === "OrielError" && transient === true), `rejected with ${message}`);
    return false;
  }

  const callers = Array.from({ length: 3 }, () => {
    const store = unreliableStore(server, weather, random.fork());
    return [0, 1].map(async () => {
      const draw = random.fork();
      const lock = new Lock(store, "nightly", { watchdogLease: WATCHDOG_MS });
      for (let i = 0; i < TRIES; i++) {
        await sleep(draw.int(0, 40));
        await holdOnce(lock, draw).catch(transientOnly);
      }
    });
  }).flat();
  const ghost = unreliableStore(server, weather, random.fork());
  const diesAtMs = Date.now() + random.int(0, 3000);
  const isDead = () => Date.now() >= diesAtMs;
  const mortal: Store = {
    ...ghost,
    run: (...call) => (isDead() ? new Promise<never>(() => {}) : ghost.run(...call)),
    subscribe: (channel, listener) => ghost.subscribe!(channel, (message) => isDead() || listener(message)),
  };
  let lastFenceOfDead = 0;
  const haunt = async () => {
    const lock = new Lock(mortal, "nightly");
    while (!isDead()) {
      const held = await lock.tryLock({ wait: 5000, lease: 100 }).catch(() => null);
      await sleep(random.int(1, 20));
      if (held && isDead()) lastFenceOfDead = held.fence;
      await held?.release().catch(() => false);
    }
  };
  void haunt();
  const isCalm = bad === 0 && weather.lostNews === 0 && trouble === "none";
  const key = lockKeyOf(server, "nightly");
  let idleSinceMs = Number.POSITIVE_INFINITY;
  const watch = () => {
    const { holds = [], last } = (server.entryOf(key)?.value as State | undefined) ?? {};
    const isIdle = waiting > 0 && !holds.some(({ endMs, isOnTrial }) => !isOnTrial && endMs >= Date.now());
    idleSinceMs = isIdle ? Math.min(idleSinceMs, Date.now()) : Number.POSITIVE_INFINITY;
    const idleMs = Date.now() - idleSinceMs;
    const longestMs = last === lastFenceOfDead ? LONGEST_IDLE_AFTER_DEATH_MS : LONGEST_IDLE_MS;
    if (isCalm) check(idleMs <= longestMs, `free for ${idleMs} ms while ${waiting} wait`);
  };
  let isOver = false;
  const all = Promise.all(callers).then(() => {
    isOver = true;
  });
  for (let ms = 0; !isOver && ms < 600_000; ms += 20) {
    await vi.advanceTimersByTimeAsync(20);
    watch();
    if (random.chance(0.005 * bad)) weather.silentUntilMs = Date.now() + random.int(10, 700);
    if (random.chance(0.005)) weather.refusingUntilMs = Date.now() + random.int(10, 500) * Math.sign(bad);
    if (!random.chance(0.01)) continue;
    if (trouble === "clock back") aheadMs -= random.int(1, 50);
    if (trouble === "clock ahead") aheadMs += random.int(1, 2000);
    if (trouble === "data lost") server.clear();
  }
  check(isOver, "callers still wait");
  await all;

  // With faults over, what nobody holds any more is free again within the longest lease.
  Object.assign(weather, { lostRequest: 0, lostReply: 0, repeated: 0, lostNews: 1, refusingUntilMs: 0 });
  const last = new Lock(unreliableStore(server, weather, random.fork()), "nightly");
  const taken = last.tryLock({ wait: 3 * LONGEST_LEASE_MS, lease: 100 });
  await vi.advanceTimersByTimeAsync(4 * LONGEST_LEASE_MS);
  const held = await taken;
  check(held !== null, "the lock was never free again");
  if (held) check(held.fence > Math.max(0, ...grants.map((each) => each.fence)), "the last fence is not the highest");
  return { grants: grants.length, losses, calm: Number(isCalm), violations };
}

test(`${count} schedules of lost, late and repeated messages from seed ${first}`, {
  timeout: 300_000 + count * 2_000,
}, async () => {
  const sum = { grants: 0, losses: 0, calm: 0 };
  const violations: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const played = await play(seed);
    sum.grants += played.grants;
    sum.losses += played.losses;
    sum.calm += played.calm;
    violations.push(...played.violations);
  }
  console.log(`lock: ${count} schedules from seed ${first}, ${sum.grants} holds, ${sum.losses} lost, ${sum.calm} calm`);
  expect(violations).toEqual([]);
  expect(sum.grants).toBeGreaterThan(count);
});
