import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Lock, memoryStore } from "../../src/entries/index.ts";
import { RESERVATION_MS } from "../../src/generated/layouts/lock.ts";
import type { Store } from "../../src/store/contract.ts";
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
  beforeEach(() => {
    random = new Random(Number(process.env.ORIEL_SEED ?? 1));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) });
    aheadMs = 0;
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
        const answer = await server.run(...call);
        await awake();
        return answer as never;
      },
      subscribe: (channel, listener) =>
        server.subscribe!(channel, () => void awake().then(() => process.isDead || listener())),
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
  const names = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`);

  test("when lease after lease ends, the lock goes to the waiters in order", async () => {
    const got: string[] = [];
    const processes = await line(got, 20);
    await pass(21 * (LEASE_MS + 3 * 60));
    expect(got).toEqual(names(20));
    for (const [i, each] of processes.entries())
      if (i > 0) expect(each.gotAtMs - processes[i - 1]!.gotAtMs).toBeLessThanOrEqual(LEASE_MS + 3 * 60);
  });

  test("a dead first waiter costs 150 ms, and the others keep their order", async () => {
    const got: string[] = [];
    const [dead, second] = await line(got, 8);
    dead!.isDead = true;
    const startMs = Date.now();
    await pass(9 * (LEASE_MS + 2 * RESERVATION_MS));
    expect(got).toEqual(names(8).slice(1));
    expect(second!.gotAtMs - startMs).toBeLessThanOrEqual(LEASE_MS + RESERVATION_MS + 3 * 60);
  });

  test("a frozen first waiter is skipped, and comes last when it returns", async () => {
    const got: string[] = [];
    const [frozen] = await line(got, 6);
    frozen!.frozenUntilMs = Date.now() + LEASE_MS + 3 * RESERVATION_MS;
    await pass(9 * (LEASE_MS + 2 * RESERVATION_MS));
    expect(got).toEqual([...names(6).slice(1), "p0"]);
  });

  test("many dead waiters: each live one that asks precedes those that do not, within the first reservation", async () => {
    const got: string[] = [];
    const processes = await line(got, 20);
    for (const each of processes.slice(0, 18)) each.isDead = true;
    const startMs = Date.now();
    await pass(3 * (LEASE_MS + 2 * RESERVATION_MS));
    expect(got).toEqual(["p18", "p19"]);
    expect(processes[18]!.gotAtMs - startMs).toBeLessThanOrEqual(LEASE_MS + RESERVATION_MS + 3 * 60);
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

  test("no waiter is alive: a caller without a wait gets the lock after one reservation", async () => {
    const got: string[] = [];
    for (const each of await line(got, 5)) each.isDead = true;
    await pass(LEASE_MS + 1);
    const lock = new Lock(server, "nightly");
    expect(await lock.tryLock()).toBeNull();
    await pass(RESERVATION_MS + 1);
    expect(await lock.tryLock()).not.toBeNull();
  });

  test.each([-60_000, -1000, -100, 100])("a step of the server's clock by %i ms changes no order", async (stepMs) => {
    const got: string[] = [];
    await line(got, 6);
    await pass(LEASE_MS / 2);
    aheadMs += stepMs;
    await pass(7 * (LEASE_MS + 2 * RESERVATION_MS) + Math.max(0, -stepMs));
    expect(got).toEqual(names(6));
  });

  test("messages that arrive after the reservation cost time, but the lock is not lost", async () => {
    const got: string[] = [];
    await line(got, 6, () => RESERVATION_MS);
    await pass(60_000);
    expect([...got].sort()).toEqual(names(6));
  });
});

describe("on Redis", () => {
  const stage = new LockStage();

  test("eight processes and holders that never release: waiters get the lock in order", async () => {
    const got: number[] = [];
    const first = stage.lock();
    await first.tryLock({ lease: LEASE_MS });
    const places = async () => (await stage.raw.strlen("waiting:oriel:{nightly}")) - 26;
    const all: Promise<unknown>[] = [];
    for (let i = 0; i < 8; i++) {
      const lock = stage.lock();
      all.push(lock.tryLock({ wait: "20s", lease: 250 }).then((held) => held && got.push(i)));
      await until("it has a place", async () => (await places()) === 29 * (i + 1));
    }
    await Promise.all(all);
    expect(got).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("on a full server a lock is released, and a waiter can leave", async () => {
    const [lock, other] = [stage.lock(), stage.lock()];
    const held = await lock.tryLock({ lease: "60s" });
    const abort = new AbortController();
    const gone = other.tryLock({ wait: "20s", signal: abort.signal }).catch(() => "gone");
    await until("it waits", async () => (await stage.raw.exists("waiting:oriel:{nightly}")) === 1);
    await stage.raw.config("SET", "maxmemory", "1mb");
    try {
      await expect(stage.raw.set("more", "x")).rejects.toThrow(/OOM/);
      abort.abort(new Error("enough"));
      expect(await gone).toBe("gone");
      await until("its place is free", async () => (await stage.raw.exists("waiting:oriel:{nightly}")) === 0);
      expect(await held!.release()).toBe(true);
      expect(await stage.raw.exists("mutex:oriel:{nightly}")).toBe(0);
      await pause(1);
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
