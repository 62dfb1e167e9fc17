import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Lock, memoryStore } from "../../src/entries/index.ts";
import { TRIAL_MS } from "../../src/generated/layouts/hold.ts";
import { take } from "../../src/holds/steps/steps.ts";
import type { Store } from "../../src/store/contract.ts";
import { onSteppedClock } from "../harness/clock/stepped-script.ts";
import { until } from "../harness/until.ts";
import { Random } from "../simulator/world/random.ts";
import { LockStage } from "./stage.ts";

/** The order of waiters where leases run out and no holder releases. */
const LEASE_MS = 600;
/** Of the holder before which the line forms. */
const FIRST_LEASE_MS = 3000;

describe("on a stepped clock", () => {
  let aheadMs = 0;
  let random: Random;
  let server: ReturnType<typeof memoryStore>;
  /** The one that asked, as the requests arrived at the server, and how many had when the places were lost. */
  let arrivals: string[];
  let arrivalsBeforeLoss: number;
  beforeEach(() => {
    random = new Random(Number(process.env.ORIEL_SEED ?? 1));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) });
    aheadMs = 0;
    arrivals = [];
    server = memoryStore({ clock: () => Date.now() + aheadMs });
  });
  afterEach(() => void vi.useRealTimers());

  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  /** A process that waits from now on, and dies with the lock when it gets it. */
  function waiting(got: string[], name: string, delayMs: () => number) {
    const process = { isDead: false, frozenUntilMs: 0, gotAtMs: Number.NaN };
    const awake = async () => {
      const ms = Math.max(delayMs(), process.frozenUntilMs - Date.now());
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    };
    const store: Store = {
      ...server,
      async run(...call: Parameters<Store["run"]>) {
        await awake();
        if (process.isDead) return new Promise(() => {});
        if (call[0] === take && (call[2] as { tickets: unknown[] }).tickets.length > 0) arrivals.push(name);
        const answer = await server.run(...call);
        await awake();
        return answer as never;
      },
      subscribe: (channel, listener) =>
        server.subscribe!(channel, (message) => {
          if (message === "lost") arrivalsBeforeLoss = arrivals.length;
          void awake().then(() => process.isDead || listener(message));
        }),
    };
    const run = async () => {
      if (!(await new Lock(store, "nightly").tryLock({ wait: "10m", lease: LEASE_MS }))) return;
      process.gotAtMs = Date.now();
      got.push(name);
      process.isDead = true;
    };
    void run();
    return process;
  }

  /** A number of waiters in sequence. Each gets the lock within 1 s. Messages overtake each other. */
  async function line(got: string[], count: number, delayMs = () => random.int(0, 30)) {
    await new Lock(server, "nightly").tryLock({ lease: FIRST_LEASE_MS });
    const startMs = Date.now();
    const processes: ReturnType<typeof waiting>[] = [];
    for (let i = 0; i < count; i++) {
      processes.push(waiting(got, `p${i}`, delayMs));
      await pass(4 * 30);
    }
    await pass(startMs + FIRST_LEASE_MS - LEASE_MS - Date.now());
    return processes;
  }
  /** The order in which the others asked after the loss of their places. */
  const askedAgain = (first: string) =>
    [...new Set(arrivals.slice(arrivalsBeforeLoss))].filter((name) => name !== first);
  const names = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`);

  test("when lease after lease ends, the lock goes to the waiters in order", async () => {
    const got: string[] = [];
    const processes = await line(got, 20);
    await pass(21 * (LEASE_MS + 3 * 60));
    expect(got).toEqual(names(20));
    for (const [i, each] of processes.entries())
      if (i > 0) expect(each.gotAtMs - processes[i - 1]!.gotAtMs).toBeLessThanOrEqual(LEASE_MS + 3 * 60);
  });

  test("a dead first waiter costs 150 ms; the others ask again, and are served in that order", async () => {
    const got: string[] = [];
    const [dead, ...others] = await line(got, 8);
    dead!.isDead = true;
    const startMs = Date.now();
    await pass(9 * (LEASE_MS + 2 * TRIAL_MS));
    expect([...got].sort()).toEqual(names(8).slice(1));
    expect(got.slice(1)).toEqual(askedAgain(got[0]!));
    const firstMs = Math.min(...others.map(({ gotAtMs }) => gotAtMs));
    expect(firstMs - startMs).toBeLessThanOrEqual(LEASE_MS + TRIAL_MS + 10 + 3 * 60);
  });

  test("a frozen first waiter is skipped, and comes last when it returns", async () => {
    const got: string[] = [];
    const [frozen] = await line(got, 6);
    frozen!.frozenUntilMs = Date.now() + LEASE_MS + 3 * TRIAL_MS;
    await pass(9 * (LEASE_MS + 2 * TRIAL_MS));
    expect([...got].sort()).toEqual(names(6));
    expect(got.at(-1)).toBe("p0");
    expect(got.slice(1)).toEqual(askedAgain(got[0]!));
  });

  test("many dead waiters cost one trial together", async () => {
    const got: string[] = [];
    const processes = await line(got, 20);
    for (const each of processes.slice(0, 18)) each.isDead = true;
    const startMs = Date.now();
    await pass(3 * (LEASE_MS + 2 * TRIAL_MS));
    expect([...got].sort()).toEqual(["p18", "p19"]);
    const firstMs = Math.min(...processes.slice(18).map(({ gotAtMs }) => gotAtMs));
    expect(firstMs - startMs).toBeLessThanOrEqual(LEASE_MS + TRIAL_MS + 10 + 3 * 60);
  });

  test("a caller without a wait gets nothing in between, however often it tries", async () => {
    const got: string[] = [];
    await line(got, 5);
    let stolen = 0;
    let tries = 0;
    for (; got.length < 5 && tries < 20_000; tries++) {
      await pass(1);
      if (got.length < 5 && (await new Lock(server, "nightly").tryLock({ lease: LEASE_MS }))) stolen++;
    }
    expect(tries).toBeGreaterThan(4 * LEASE_MS);
    expect([got, stolen]).toEqual([names(5), 0]);
  });

  test("no waiter is alive: a caller without a wait gets the lock after one trial", async () => {
    const got: string[] = [];
    for (const each of await line(got, 5)) each.isDead = true;
    await pass(LEASE_MS + 1);
    const lock = new Lock(server, "nightly");
    expect(await lock.tryLock()).toBeNull();
    await pass(TRIAL_MS + 1);
    expect(await lock.tryLock()).not.toBeNull();
  });

  test.each([-60_000, -1000, -100, 100])("a step of the server's clock by %i ms changes no order", async (stepMs) => {
    const got: string[] = [];
    await line(got, 6);
    await pass(LEASE_MS / 2);
    aheadMs += stepMs;
    await pass(7 * (LEASE_MS + 2 * TRIAL_MS) + Math.max(0, -stepMs));
    expect(got).toEqual(names(6));
  });

  test("messages that arrive after the trial cost time, but the lock is not lost", async () => {
    const got: string[] = [];
    await line(got, 6, () => TRIAL_MS);
    await pass(60_000);
    expect([...got].sort()).toEqual(names(6));
  });
});

describe("on Redis", () => {
  const stage = new LockStage();

  test("eight processes and holders that never release: waiters get the lock in order", async () => {
    // The servers' time steps, so that no trial is missed on a slow machine.
    const clock = { nowMs: Date.UTC(2100, 0) };
    const process = () => stage.lock({ scriptOf: onSteppedClock(() => clock.nowMs) });
    const bystander = process();
    await process().tryLock({ lease: "60s" });
    const got: number[] = [];
    const all: Promise<unknown>[] = [];
    for (let i = 0; i < 8; i++) {
      all.push(
        process()
          .tryLock({ wait: "10m", lease: "60s" })
          .then((held) => held && got.push(i)),
      );
      await until("it has a place", async () => (await bystander.inspect()).waitingProcesses === i + 1);
    }
    for (let i = 0; i < 8; i++) {
      clock.nowMs += 60_001;
      expect(await bystander.tryLock()).toBeNull();
      await all[i];
      expect(got).toEqual(Array.from({ length: i + 1 }, (_, j) => j));
    }
  });

  test("on a full server a lock is renewed and released, and a waiter can leave", async () => {
    const [lock, other] = [stage.lock(), stage.lock()];
    const held = await lock.tryLock({ lease: "60s" });
    const abort = new AbortController();
    const gone = other.tryLock({ wait: "20s", signal: abort.signal }).catch(() => "gone");
    await until("it waits", async () => (await lock.inspect()).waitingProcesses === 1);
    await stage.raw.config("SET", "maxmemory", "1mb");
    try {
      await expect(stage.raw.set("more", "x")).rejects.toThrow(/OOM/);
      abort.abort(new Error("enough"));
      expect(await gone).toBe("gone");
      await until("its place is free", async () => (await lock.inspect()).waitingProcesses === 0);
      expect(await held!.extend()).toBe(true);
      expect(await held!.release()).toBe(true);
      expect(await lock.isHeld()).toBe(false);
      await expect(lock.tryLock()).rejects.toMatchObject({ code: "OVERLOADED" });
    } finally {
      await stage.raw.config("SET", "maxmemory", "0");
    }
  });
});

test("in a full memory store, whatever its last bytes, a lock is released, and its waiter keeps its place", async () => {
  for (let maxBytes = 1000; maxBytes < 1200; maxBytes += 2) {
    const store = memoryStore({ maxBytes });
    const lock = new Lock(store, "nightly");
    const held = await lock.tryLock({ lease: "60s" });
    for (let i = 0; await new Lock(store, `${i}`.padEnd(1 + (i % 5), "x")).tryLock({ lease: "60s" }).catch(() => 0); )
      i++;
    const waits = lock.tryLock({ wait: 1 }).catch((error) => error);
    expect(await held!.release()).toBe(true);
    await waits;
  }
});
