import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MultiSemaphore, memoryStore, type Permit } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";

const LIMIT = 6;
const PROCESSES = 3;
const LEASE_MS = 7 * 24 * 3_600_000;
/** The effects of an act have happened by then. */
const SETTLED_MS = 40;
/** Acts come at multiples of this time. Waits end between them, each at a time of its own, in some order. */
const TICK_MS = 5000;
const MAX_STEPS = 12;
const MAX_ACTS = 6;

/** What happens next. `which` chooses among the callers that hold, or wait. */
const act = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("ask" as const), permits: fc.integer({ min: 1, max: LIMIT }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("release" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("abort" as const), which: fc.nat(20) }) },
);
/** Acts of one turn of the event loop, how long those that ask wait, and the time that passes afterwards. */
const step = fc.record({
  acts: fc.array(act, { maxLength: MAX_ACTS }),
  waitTicks: fc.constantFrom(0, 2, 1000),
  passTicks: fc.constantFrom(1, 1, 3),
  /** Those that ask in one turn are of one process. Others are later, because each process sends its own requests. */
  process: fc.nat(PROCESSES - 1),
});
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Serves strictly in order of arrival: nobody is served before one that came earlier and still waits. */
class Model {
  readonly served: number[] = [];
  readonly expired: number[] = [];
  readonly holding = new Map<number, number>();
  readonly waiting = new Map<number, { permits: number; endMs: number }>();
  #free = LIMIT;

  release(caller: number): void {
    this.#free += this.holding.get(caller)!;
    this.holding.delete(caller);
  }

  serve(): void {
    for (const [caller, { permits }] of this.waiting) {
      if (permits > this.#free) return;
      this.#free -= permits;
      this.waiting.delete(caller);
      this.holding.set(caller, permits);
      this.served.push(caller);
    }
  }

  /** A caller whose wait ends leaves the line, so the next ones may be served before the next wait ends. */
  passUntil(nowMs: number): void {
    const ended = [...this.waiting].filter(([, { endMs }]) => endMs <= nowMs);
    for (const [caller] of ended.sort(([, a], [, b]) => a.endMs - b.endMs))
      if (this.waiting.delete(caller)) {
        this.expired.push(caller);
        this.serve();
      }
  }
}

/** The callers of one semaphore in several processes, next to the model of them. */
class Line {
  readonly #store = memoryStore({ clock: () => Date.now() });
  readonly #semaphores: readonly MultiSemaphore[];
  readonly #model = new Model();
  readonly #served: number[] = [];
  readonly #expired: number[] = [];
  readonly #permits = new Map<number, Permit>();
  readonly #aborts: AbortController[] = [];
  readonly #calls: Promise<unknown>[] = [];

  constructor(processes: number) {
    const { monotonic, leaseClock } = this.#store;
    const stores = Array.from({ length: processes }, (): Store => ({ ...this.#store, monotonic, leaseClock }));
    this.#semaphores = stores.map((store) => new MultiSemaphore(store, "order", { limit: LIMIT }));
  }

  async play({ acts, waitTicks, passTicks, process }: Step): Promise<void> {
    const waited = [...this.#model.waiting.keys()];
    const semaphore = this.#semaphores[process % this.#semaphores.length]!;
    for (const each of acts) this.#act(each, waited, waitTicks, semaphore);
    this.#model.serve();
    await this.#pass(SETTLED_MS);
    await this.#pass(passTicks * TICK_MS - SETTLED_MS);
  }

  async close(): Promise<void> {
    for (const abort of this.#aborts) abort.abort();
    await Promise.all(this.#calls);
    await this.#store.close();
  }

  #act(one: Act, waited: readonly number[], waitTicks: number, semaphore: MultiSemaphore): void {
    if (one.kind === "ask") this.#ask(one.permits, waitTicks, semaphore);
    else if (one.kind === "release") this.#release([...this.#model.holding.keys()], one.which);
    else this.#abort(waited, one.which);
  }

  #ask(permits: number, waitTicks: number, semaphore: MultiSemaphore): void {
    const caller = this.#aborts.length;
    const wait = waitTicks * TICK_MS + (caller + 1) * (SETTLED_MS + 20);
    this.#model.waiting.set(caller, { permits, endMs: Date.now() + wait });
    const abort = new AbortController();
    this.#aborts.push(abort);
    const call = semaphore.acquire(permits, { wait, lease: LEASE_MS, signal: abort.signal }).then(
      (permit) => {
        this.#served.push(caller);
        this.#permits.set(caller, permit);
      },
      (error) => {
        if (error !== abort.signal.reason) this.#expired.push(error.code === "DEADLINE" ? caller : error);
      },
    );
    this.#calls.push(call);
  }

  #release(holding: readonly number[], which: number): void {
    if (holding.length === 0) return;
    const caller = holding[which % holding.length]!;
    this.#model.release(caller);
    const released = this.#permits.get(caller)!.release();
    this.#calls.push(released.then((wasHeld) => expect(wasHeld).toBe(true)));
  }

  #abort(waited: readonly number[], which: number): void {
    const caller = waited[which % waited.length];
    if (caller === undefined) return;
    this.#model.waiting.delete(caller);
    this.#aborts[caller]!.abort();
  }

  async #pass(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
    this.#model.passUntil(Date.now());
    // Callers that are served at one time may hear of it in another order, if another process has served them.
    const inOrder = (served: readonly number[]) => (this.#semaphores.length === 1 ? served : [...served].sort());
    expect(inOrder(this.#served)).toEqual(inOrder(this.#model.served));
    expect(this.#expired).toEqual(this.#model.expired);
  }
}

test("a caller that does not wait overtakes nobody", async () => {
  const store = memoryStore({ clock: () => Date.now() });
  const semaphore = new MultiSemaphore(store, "order", { limit: LIMIT });
  const small = (await semaphore.tryAcquire(1))!;
  const large = semaphore.acquire(LIMIT, { wait: "1h", lease: LEASE_MS });
  await vi.advanceTimersByTimeAsync(SETTLED_MS);
  expect(await semaphore.tryAcquire(1)).toBeNull();
  const released = small.release();
  expect(await semaphore.tryAcquire(1)).toBeNull();
  expect(await released).toBe(true);
  await vi.advanceTimersByTimeAsync(TICK_MS);
  expect(await (await large).release()).toBe(true);
  expect(await (await semaphore.tryAcquire(1))!.release()).toBe(true);
  await store.close();
});

const seed = Number(process.env.ORIEL_SEED ?? 11);
const numRuns = Number(process.env.ORIEL_RUNS ?? 500);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) }));
afterEach(() => void vi.useRealTimers());

test.each([1, PROCESSES])(
  `callers of %i processes are served strictly in order of arrival, whatever they ask for (seed ${seed})`,
  async (processes) => {
    const program = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: MAX_STEPS }), async (steps) => {
      const line = new Line(processes);
      try {
        for (const each of steps) await line.play(each);
      } finally {
        await line.close();
      }
    });
    await fc.assert(program, { seed, numRuns });
  },
);
