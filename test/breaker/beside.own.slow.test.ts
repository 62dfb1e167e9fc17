// The table "Beside other breakers" in docs/reference/breaker.md: its columns of opossum and cockatiel.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Breaker, type BreakerOptions, memoryStore } from "../../src/entries/index.ts";
import { START_MS } from "../harness/clock/stepped-stores.ts";

interface Opossum {
  fire(): Promise<unknown>;
  open(): void;
  close(): void;
  shutdown(): void;
  toJSON(): { state: object };
  on(event: "halfOpen", listener: (waitMs: number) => void): void;
  readonly opened: boolean;
}

interface Cockatiel {
  execute(fn: () => Promise<unknown>): Promise<unknown>;
  isolate(): { dispose(): void };
  onHalfOpen(listener: () => void): void;
  toJSON(): unknown;
  readonly state: number;
}

const require = createRequire(new URL("../../bench/", import.meta.url));
const CircuitBreaker = require("opossum") as new (action: () => unknown, options?: object) => Opossum;
const cockatiel = require("cockatiel") as {
  handleAll: unknown;
  ConsecutiveBreaker: new (failures: number) => unknown;
  noJitterGenerator: unknown;
  ExponentialBackoff: new (options: object) => unknown;
  circuitBreaker(policy: unknown, options: object): Cockatiel;
};

const PROCESSES = 20;
const COOLDOWN_MS = 1000;
const page = readFileSync(new URL("../../docs/reference/breaker.md", import.meta.url), "utf8");

/** One service for all processes, and its calls. */
const service = { isBad: true, calls: 0, hangs: false };
const call = async () => {
  service.calls++;
  if (service.hangs) await new Promise(() => {});
  if (service.isBad) throw new Error("bad");
};

const opossums: Opossum[] = [];
const opossum = (options: object = {}) => {
  const made = new CircuitBreaker(call, { timeout: false, resetTimeout: COOLDOWN_MS, ...options });
  opossums.push(made);
  return made;
};
const ofCockatiel = (options: object = {}) =>
  cockatiel.circuitBreaker(cockatiel.handleAll, {
    halfOpenAfter: COOLDOWN_MS,
    breaker: new cockatiel.ConsecutiveBreaker(1),
    ...options,
  });
const ignored = (calls: Promise<unknown>[]) => Promise.allSettled(calls);
/** The state of a call after everything that waits for no timer. */
const stateOf = (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => "resolved",
      () => "rejected",
    ),
    new Promise((resolve) => setImmediate(resolve, "waits")),
  ]);

const clock = { nowMs: START_MS };
let name = 0;
const store = memoryStore({ clock: () => clock.nowMs, registry: false });
const oriel = (options: Partial<BreakerOptions> = {}) =>
  new Breaker(store, {
    ...{ name: `${name}`, span: "10s", failures: 1, cooldown: COOLDOWN_MS, monotonic: () => clock.nowMs },
    ...options,
  } as BreakerOptions);

beforeEach(() => {
  name++;
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "Date"] });
  Object.assign(service, { isBad: true, calls: 0, hangs: false });
  return () => {
    for (const each of opossums.splice(0)) each.shutdown();
    vi.useRealTimers();
  };
});
afterAll(() => store.close());

test.each(["opossum", "cockatiel"])("the table names the version of %s that runs here", (rival) => {
  const { version } = require(`${rival}/package.json`) as { version: string };
  expect(page).toContain(`| ${rival} ${version} |`);
});

test("other processes learn of an outage, and calls that probe after a cooldown", async () => {
  const [ofOpossum, others] = [
    Array.from({ length: PROCESSES }, () => opossum()),
    Array.from({ length: PROCESSES }, () => ofCockatiel()),
  ];
  await ignored([ofOpossum[0]!.fire()]);
  await ignored([others[0]!.execute(call)]);
  service.calls = 0;
  await ignored(ofOpossum.slice(1).map((each) => each.fire()));
  await ignored(others.slice(1).map((each) => each.execute(call)));
  expect(service.calls).toBe(2 * (PROCESSES - 1));
  vi.advanceTimersByTime(COOLDOWN_MS);
  service.calls = 0;
  await ignored(ofOpossum.map((each) => each.fire()));
  expect(service.calls).toBe(PROCESSES);
  await ignored(others.map((each) => each.execute(call)));
  expect(service.calls).toBe(2 * PROCESSES);

  const own = Array.from({ length: PROCESSES }, () => oriel());
  await ignored([own[0]!.run(call)]);
  await own[0]!.flush();
  for (const each of own) await each.ready();
  service.calls = 0;
  await ignored(own.map((each) => each.run(call)));
  expect(service.calls).toBe(0);
  clock.nowMs += COOLDOWN_MS;
  await ignored(own.map((each) => each.run(call)));
  expect(service.calls).toBe(1);
});

describe("a probe that never ends", () => {
  test("opossum rejects all calls for ever", async () => {
    const breaker = opossum();
    await ignored([breaker.fire()]);
    vi.advanceTimersByTime(COOLDOWN_MS);
    service.hangs = true;
    void breaker.fire();
    service.hangs = service.isBad = false;
    service.calls = 0;
    for (let hour = 0; hour < 3; hour++) {
      vi.advanceTimersByTime(3_600_000);
      await expect(breaker.fire()).rejects.toMatchObject({ code: "EOPENBREAKER" });
    }
    expect(service.calls).toBe(0);
  });

  test("in cockatiel all calls wait for it", async () => {
    const breaker = ofCockatiel();
    await ignored([breaker.execute(call)]);
    vi.advanceTimersByTime(COOLDOWN_MS);
    service.hangs = true;
    void breaker.execute(call);
    service.hangs = service.isBad = false;
    service.calls = 0;
    vi.advanceTimersByTime(3_600_000);
    expect(await stateOf(breaker.execute(call))).toBe("waits");
    expect(service.calls).toBe(0);
  });

  test("oriel gives it up after its lease", async () => {
    const breaker = oriel({ lease: "2s" });
    await ignored([breaker.run(call)]);
    await breaker.flush();
    clock.nowMs += COOLDOWN_MS;
    service.hangs = true;
    void breaker.run(call);
    await breaker.flush();
    service.hangs = service.isBad = false;
    clock.nowMs += 2000;
    expect(await stateOf(breaker.run(call))).toBe("resolved");
  });
});

test("longer cooldowns: opossum's stays, cockatiel has backoffs", async () => {
  const breaker = opossum();
  const waits: number[] = [];
  breaker.on("halfOpen", (waitMs) => void waits.push(waitMs));
  for (let round = 0; round < 4; round++) {
    await ignored([breaker.fire()]);
    vi.advanceTimersByTime(COOLDOWN_MS);
  }
  expect(waits).toEqual(Array(4).fill(COOLDOWN_MS));

  const generator = cockatiel.noJitterGenerator;
  const backoff = new cockatiel.ExponentialBackoff({ initialDelay: 1000, maxDelay: 60_000, generator });
  const other = ofCockatiel({ halfOpenAfter: backoff });
  const gaps: number[] = [];
  for (let round = 0; round < 5; round++) {
    const from = service.calls;
    let gap = 0;
    for (; service.calls === from; gap += 100) {
      await ignored([other.execute(call)]);
      vi.advanceTimersByTime(100);
    }
    gaps.push(gap);
  }
  for (const [i, gap] of gaps.slice(1).entries()) expect(gap).toBeGreaterThan(gaps[i]!);
});

test("slow calls that succeed: neither opens by them", async () => {
  service.isBad = false;
  const slow = async () => {
    vi.advanceTimersByTime(60_000);
    await call();
  };
  const [breaker, other] = [new CircuitBreaker(slow, { timeout: false }), ofCockatiel()];
  opossums.push(breaker);
  for (let round = 0; round < 50; round++) {
    await breaker.fire();
    await other.execute(slow);
  }
  expect([breaker.opened, other.state]).toEqual([false, 0]);
});

test("a new process is closed, unless it has a saved state", async () => {
  const [sick, other] = [opossum(), ofCockatiel()];
  await ignored([sick.fire(), other.execute(call)]);
  expect([sick.opened, other.state]).toEqual([true, 1]);
  expect([opossum().opened, ofCockatiel().state]).toEqual([false, 0]);
  expect(opossum({ state: sick.toJSON().state }).opened).toBe(true);
  expect(ofCockatiel({ initialState: other.toJSON() }).state).toBe(1);
});

test("the first failure opens opossum by default", async () => {
  const breaker = new CircuitBreaker(call, { timeout: false });
  opossums.push(breaker);
  await ignored([breaker.fire()]);
  expect(breaker.opened).toBe(true);
});

test("by hand: opossum opens for its resetTimeout, cockatiel until dispose(), and neither stays closed", async () => {
  const [breaker, neighbour] = [opossum(), opossum()];
  breaker.open();
  service.isBad = false;
  await expect(breaker.fire()).rejects.toMatchObject({ code: "EOPENBREAKER" });
  await neighbour.fire();
  vi.advanceTimersByTime(COOLDOWN_MS);
  await breaker.fire();
  breaker.close();
  service.isBad = true;
  for (let i = 0; i < 5; i++) await ignored([breaker.fire()]);
  expect(breaker.opened).toBe(true);

  const other = ofCockatiel();
  const handle = other.isolate();
  vi.advanceTimersByTime(3_600_000);
  await expect(other.execute(call)).rejects.toMatchObject({ isIsolatedCircuitError: true });
  handle.dispose();
  expect(other.state).toBe(0);
  const types = readFileSync(
    new URL("../../bench/node_modules/cockatiel/dist/CircuitBreakerPolicy.d.ts", import.meta.url),
  );
  expect(`${types}`).toContain("private close;");
});
