import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import { MultiSemaphore } from "../../src/entries/structures/semaphore.ts";
import type { Permit } from "../../src/semaphore/permit-calls.ts";
import { until } from "../harness/until.ts";

const LIMIT = 6;

type Step =
  /** These callers ask, and these holds are released, in one turn. */
  | { kind: "turn"; asked: number[]; released: number[] }
  /** One waiting caller gives up. */
  | { kind: "abort"; which: number };

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record<Step & { kind: "turn" }>({
      kind: fc.constant("turn"),
      asked: fc.array(fc.integer({ min: 1, max: LIMIT }), { maxLength: 4 }),
      released: fc.array(fc.nat(20), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record<Step & { kind: "abort" }>({ kind: fc.constant("abort"), which: fc.nat(20) }) },
);

/** Serves strictly in order of arrival: nobody is served before one that came earlier and still waits. */
class Model {
  readonly served: number[] = [];
  readonly holding = new Map<number, number>();
  readonly waiting = new Map<number, number>();
  #free = LIMIT;

  ask(caller: number, permits: number): void {
    this.waiting.set(caller, permits);
  }

  release(caller: number): void {
    this.#free += this.holding.get(caller)!;
    this.holding.delete(caller);
  }

  serve(): void {
    for (const [caller, permits] of this.waiting) {
      if (permits > this.#free) return;
      this.#free -= permits;
      this.waiting.delete(caller);
      this.holding.set(caller, permits);
      this.served.push(caller);
    }
  }
}

async function expectInOrder(steps: readonly Step[]): Promise<void> {
  const store = memoryStore();
  const semaphore = new MultiSemaphore(store, "order", { limit: LIMIT });
  const model = new Model();
  const served: number[] = [];
  const permits = new Map<number, Permit>();
  const aborts = new Map<number, AbortController>();
  const calls: Promise<unknown>[] = [];
  let callers = 0;
  const ask = (wanted: number) => {
    const caller = callers++;
    model.ask(caller, wanted);
    const abort = new AbortController();
    aborts.set(caller, abort);
    const call = semaphore.acquire(wanted, { wait: "1h", lease: "1h", signal: abort.signal }).then(
      (permit) => {
        served.push(caller);
        permits.set(caller, permit);
      },
      (error) => expect(error).toBe(abort.signal.reason),
    );
    calls.push(call);
  };
  const settle = async () => {
    model.serve();
    await until(`${model.served.length} are served`, () => served.length >= model.served.length, 20_000, 0);
    expect(served).toEqual(model.served);
  };
  for (const step of steps) {
    if (step.kind === "turn") {
      const released = new Set(step.released.map((i) => [...permits.keys()][i % permits.size]!));
      for (const wanted of step.asked) ask(wanted);
      const releases =
        permits.size === 0
          ? []
          : [...released].map((caller) => {
              model.release(caller);
              const permit = permits.get(caller)!;
              permits.delete(caller);
              return permit.release();
            });
      expect(await Promise.all(releases)).toEqual(releases.map(() => true));
    } else if (model.waiting.size > 0) {
      const caller = [...model.waiting.keys()][step.which % model.waiting.size]!;
      model.waiting.delete(caller);
      aborts.get(caller)!.abort();
    }
    await settle();
  }
  for (const caller of model.waiting.keys()) aborts.get(caller)!.abort();
  for (const permit of permits.values()) await permit.release();
  await Promise.all(calls);
  await store.close();
}

test("callers of one process are served strictly in order of arrival, whatever they ask for", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => expectInOrder(steps)),
    { numRuns: 150 },
  );
});
