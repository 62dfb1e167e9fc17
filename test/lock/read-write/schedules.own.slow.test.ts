import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type HeldLock, memoryStore, ReadWriteLock } from "../../../src/entries/index.ts";
import { seeds } from "../../harness/seeds.ts";
import { Random } from "../../simulator/world/random.ts";
import { DEADLINE_MS, randomWeather, unreliableStore } from "../faults/unreliable-store.ts";

const { first, count } = seeds(40);

const LONGEST_LEASE_MS = 1000;
const TRIES = 8;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) }));
afterEach(() => void vi.useRealTimers());

interface Hold {
  held: HeldLock;
  isWriter: boolean;
  isWanted(): boolean;
}

/**
 * One schedule: three processes of three callers that read and write, over a network that loses, delays and repeats
 * messages; a server whose clock steps or whose data is lost in some.
 */
async function play(seed: number): Promise<{ reads: number; writes: number; violations: string[] }> {
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
  const holds: Hold[] = [];
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  async function holdOnce(lock: ReadWriteLock, draw: Random): Promise<void> {
    const isWriter = draw.chance(0.4);
    const wait = draw.pick([0, 50, 400, 3000]);
    const lease = draw.pick([undefined, 40, 200, LONGEST_LEASE_MS]);
    const abort = draw.chance(0.1) ? new AbortController() : undefined;
    if (abort) setTimeout(() => abort.abort(new RangeError("enough")), draw.int(0, 300));
    const askedMs = Date.now();
    const highestBefore = Math.max(0, ...holds.map(({ held }) => held.fence));
    const held = await (isWriter ? lock.write : lock.read).tryLock({ wait, lease, signal: abort?.signal });
    // A writer asks for readers, extends and gives back, each within a deadline.
    const tookMs = Date.now() - askedMs;
    check(tookMs <= wait + 4 * DEADLINE_MS + 5 * 30, `a wait of ${wait} ms took ${tookMs} ms`);
    if (!held) return;
    let isWanted = true;
    check(held.leftMs > 0, "a hold was returned after its lease");
    check(held.fence > highestBefore, `fence ${held.fence} after ${highestBefore}`);
    const others = holds.filter((each) => each.isWanted() && each.held.leftMs > 0);
    const inTheWay = isWriter ? others : others.filter((each) => each.isWriter);
    if (isExclusive) check(inTheWay.length === 0, `${isWriter ? "a writer" : "a reader"} beside ${inTheWay.length}`);
    holds.push({ held, isWriter, isWanted: () => isWanted });
    const endMs = Date.now() + draw.pick([0, 5, 100, 1500]);
    while (Date.now() < endMs && held.leftMs > 0) {
      await sleep(Math.min(20, Math.max(1, endMs - Date.now())));
      if (draw.chance(0.1)) await held.extend(draw.pick([40, 500])).catch(transientOnly);
    }
    isWanted = false;
    check(typeof (await held.release().catch(transientOnly)) === "boolean", "release gave no boolean");
  }

  function transientOnly(error: unknown): boolean {
    const { name, transient, message } = error as { name: string; transient?: boolean; message: string };
    check(message === "enough" || (name === "OrielError" && transient === true), `rejected with ${message}`);
    return false;
  }

  const callers = Array.from({ length: 3 }, () => {
    const store = unreliableStore(server, weather, random.fork());
    return [0, 1, 2].map(async () => {
      const draw = random.fork();
      const lock = new ReadWriteLock(store, "nightly", { watchdogLease: 900 });
      for (let i = 0; i < TRIES; i++) {
        await sleep(draw.int(0, 40));
        await holdOnce(lock, draw).catch(transientOnly);
      }
    });
  }).flat();
  let isOver = false;
  const all = Promise.all(callers).then(() => {
    isOver = true;
  });
  for (let ms = 0; !isOver && ms < 600_000; ms += 20) {
    await vi.advanceTimersByTimeAsync(20);
    if (random.chance(0.005 * bad)) weather.silentUntilMs = Date.now() + random.int(10, 700);
    if (random.chance(0.005)) weather.refusingUntilMs = Date.now() + random.int(10, 500) * Math.sign(bad);
    if (!random.chance(0.01)) continue;
    if (trouble === "clock back") aheadMs -= random.int(1, 50);
    if (trouble === "clock ahead") aheadMs += random.int(1, 2000);
    if (trouble === "data lost") server.clear();
  }
  check(isOver, "callers still wait");
  await all;

  // With faults over, a writer gets in within the longest lease.
  Object.assign(weather, { lostRequest: 0, lostReply: 0, repeated: 0, lostNews: 1, refusingUntilMs: 0 });
  const last = new ReadWriteLock(unreliableStore(server, weather, random.fork()), "nightly");
  const taken = last.write.tryLock({ wait: 3 * LONGEST_LEASE_MS, lease: 100 });
  await vi.advanceTimersByTimeAsync(4 * LONGEST_LEASE_MS);
  check((await taken) !== null, "the lock was never free again");
  const writes = holds.filter(({ isWriter }) => isWriter).length;
  return { reads: holds.length - writes, writes, violations };
}

test(`${count} schedules of lost, late and repeated messages from seed ${first}`, {
  timeout: 300_000 + count * 2_000,
}, async () => {
  const violations: string[] = [];
  let [reads, writes] = [0, 0];
  for (let seed = first; seed < first + count; seed++) {
    const played = await play(seed);
    violations.push(...played.violations);
    reads += played.reads;
    writes += played.writes;
  }
  expect(violations).toEqual([]);
  expect(reads).toBeGreaterThan(count * 5);
  expect(writes).toBeGreaterThan(count * 3);
});
