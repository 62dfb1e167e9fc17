import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MultiSemaphore, memoryStore, type Permit, Semaphore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { seeds } from "../harness/seeds.ts";
import { DEADLINE_MS, randomWeather, unreliableStore } from "../lock/faults/unreliable-store.ts";
import { Random } from "../simulator/world/random.ts";

const { first, count } = seeds(5);

const LONGEST_LEASE_MS = 1000;
const TRIES = 4;
const LIMIT = 3;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) }));
afterEach(() => void vi.useRealTimers());

interface Asked {
  wait: number;
  lease: number | undefined;
  signal: AbortSignal | undefined;
}

/** One process's structure: acquires some of the permits that all share. */
interface Subject {
  /** True if every hold has one permit. */
  isSingle?: true;
  acquire(store: Store, permits: number, asked: Asked): Promise<Permit>;
}

const orNull = (error: { code?: string; message: string }) => {
  if (error.code === "DEADLINE" && error.message.includes(" free within ")) return null;
  throw error;
};

const options = { limit: LIMIT, watchdogLease: 900 };

const subjects: Record<string, Subject> = {
  "a semaphore": {
    isSingle: true,
    acquire: (store, _, asked) => new Semaphore(store, "nightly", options).acquire(asked),
  },
  "permits of a semaphore": {
    acquire: (store, n, asked) => new MultiSemaphore(store, "nightly", options).acquire(n, asked),
  },
};

/**
 * One schedule: three processes of two callers, over networks that lose, delay and repeat messages. The server is
 * cut off for some time, and its clock steps back in some.
 */
async function play(subject: Subject, seed: number): Promise<{ holds: number; violations: string[] }> {
  const random = new Random(seed);
  const violations: string[] = [];
  const check = (holds: boolean, what: string) => holds || violations.push(`seed ${seed}: ${what}`);
  const bad = random.pick([0, 0.02, 0.1, 0.25]);
  const weather = randomWeather(random, bad);
  const clock = { aheadMs: random.int(0, 5000) };
  const server = memoryStore({ clock: () => Date.now() + clock.aheadMs });
  const isSteppedBack = random.chance(0.3);
  const inUse: { held: Permit; permits: number; isWanted(): boolean }[] = [];
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  async function holdOnce(store: Store, draw: Random): Promise<void> {
    const permits = subject.isSingle ? 1 : draw.int(1, LIMIT);
    const wait = draw.pick([0, 50, 400, 3000]);
    const lease = draw.pick([undefined, 40, 200, LONGEST_LEASE_MS]);
    const abort = draw.chance(0.1) ? new AbortController() : undefined;
    if (abort) setTimeout(() => abort.abort(new RangeError("enough")), draw.int(0, 300));
    const askedMs = Date.now();
    const held = await subject.acquire(store, permits, { wait, lease, signal: abort?.signal }).catch(orNull);
    const tookMs = Date.now() - askedMs;
    check(tookMs <= wait + 3 * DEADLINE_MS + 100, `a wait of ${wait} ms took ${tookMs} ms`);
    if (!held) return;
    let isWanted = true;
    check(held.leftMs > 0, "a hold was returned after its lease");
    inUse.push({ held, permits, isWanted: () => isWanted });
    const together = inUse.filter((each) => each.isWanted() && each.held.leftMs > 0);
    const sum = together.reduce((all, each) => all + each.permits, 0);
    check(sum <= LIMIT, `${sum} permits of ${LIMIT} in use`);
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
    return [0, 1].map(async () => {
      const draw = random.fork();
      for (let i = 0; i < TRIES; i++) {
        await sleep(draw.int(0, 40));
        await holdOnce(store, draw).catch(transientOnly);
      }
    });
  }).flat();
  let isOver = false;
  const all = Promise.all(callers).then(() => {
    isOver = true;
  });
  for (let ms = 0; !isOver && ms < 600_000; ms += 20) {
    await vi.advanceTimersByTimeAsync(20);
    if (random.chance(0.005 * Math.sign(bad))) weather.silentUntilMs = Date.now() + random.int(10, 500);
    if (random.chance(0.005 * Math.sign(bad))) weather.refusingUntilMs = Date.now() + random.int(10, 500);
    if (isSteppedBack && random.chance(0.01)) clock.aheadMs -= random.int(1, 50);
  }
  check(isOver, "callers still wait");
  await all;

  // With faults over, all permits are free within the longest lease.
  Object.assign(weather, { lostRequest: 0, lostReply: 0, repeated: 0, silentUntilMs: 0, refusingUntilMs: 0 });
  const asked = { wait: 3 * LONGEST_LEASE_MS, lease: 100, signal: undefined };
  const store = unreliableStore(server, weather, random.fork());
  const last = subject.acquire(store, subject.isSingle ? 1 : LIMIT, asked).catch(orNull);
  await vi.advanceTimersByTimeAsync(5 * LONGEST_LEASE_MS);
  check((await last) !== null, "the permits were never free again");
  return { holds: inUse.length, violations };
}

test.each(Object.entries(subjects))(
  `%s: ${count} schedules of lost, late and repeated messages from seed ${first}`,
  { timeout: 300_000 + count * 2_000 },
  async (_name, subject) => {
    const violations: string[] = [];
    let holds = 0;
    for (let seed = first; seed < first + count; seed++) {
      const played = await play(subject, seed);
      violations.push(...played.violations);
      holds += played.holds;
    }
    expect(violations).toEqual([]);
    expect(holds).toBeGreaterThan(count * 4);
  },
);
