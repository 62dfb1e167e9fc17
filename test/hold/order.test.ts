import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryStore } from "../../src/entries/memory-store.ts";
import type { Ticket } from "../../src/holds/steps/state.ts";
import { leave, look, take } from "../../src/holds/steps/steps.ts";
import { runs } from "../harness/runs.ts";

const PROCESSES = ["a", "b", "c", "d"].map((each) => each.repeat(14));
const ALL = 2 ** 32 - 1;

/** What callers want of a name: a lock, permits of a semaphore, the sides of a read-write lock. */
const KINDS = {
  lock: { limit: 1, permits: [1] },
  semaphore: { limit: 3, permits: [1] },
  "multi-semaphore": { limit: 5, permits: [1, 2, 3, 5] },
  "read-write lock": { limit: ALL, permits: [1, ALL] },
};

/** Serves strictly in order of arrival. It holds everything that the definition says, and nothing else. */
class Model {
  readonly holders = new Map<string, number>();
  waiters: { token: string; permits: number }[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  arrive(token: string, permits: number): void {
    this.waiters.push({ token, permits });
    this.#serve();
  }

  leave(token: string): void {
    this.holders.delete(token);
    this.waiters = this.waiters.filter((waiter) => waiter.token !== token);
    this.#serve();
  }

  #serve(): void {
    for (let [first] = this.waiters; first; [first] = this.waiters) {
      const used = [...this.holders.values()].reduce((sum, permits) => sum + permits, 0);
      if (used + first.permits > this.#limit) return;
      this.holders.set(first.token, first.permits);
      this.waiters.shift();
    }
  }
}

const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("arrive" as const), process: fc.nat(3), size: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("leave" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("confirm" as const), process: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(40) }) },
);

test.each(Object.entries(KINDS))("%s: processes are served strictly in order of arrival", async (_name, kind) => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
      const clock = { nowMs: 1_000_000 };
      const store = memoryStore({ clock: () => clock.nowMs });
      const model = new Model(kind.limit);
      const tickets = new Map<string, Ticket>();
      let arrived = 0;
      const ask = (process: string) => {
        const own = [...tickets.values()].filter(({ token }) => token.startsWith(process));
        return store.run(take, "name", { process, tickets: own, mayWait: true, isGuess: false });
      };
      for (const one of events) {
        if (one.kind === "pass") clock.nowMs += one.ms;
        else if (one.kind === "confirm") await ask(PROCESSES[one.process]!);
        else if (one.kind === "arrive") {
          const token = PROCESSES[one.process]! + String(arrived++).padStart(6, "0");
          const permits = kind.permits[one.size % kind.permits.length]!;
          tickets.set(token, { token, permits, limit: kind.limit, leaseMs: 3_600_000 });
          model.arrive(token, permits);
          await ask(PROCESSES[one.process]!);
        } else {
          const known = [...model.holders.keys(), ...model.waiters.map(({ token }) => token)];
          const token = known[one.which % Math.max(1, known.length)];
          if (token === undefined) continue;
          model.leave(token);
          tickets.delete(token);
          await store.run(leave, "name", { process: token.slice(0, 14), token, number: undefined });
        }
        // No trial is missed, because those that have got one ask within 40 ms.
        for (const process of PROCESSES) await ask(process);
        const { holds, places } = await store.run(look, "name", undefined);
        expect(holds.map(({ token }) => token).sort()).toEqual([...model.holders.keys()].sort());
        expect(places.map(({ token }) => token)).toEqual(model.waiters.map(({ token }) => token));
      }
      await store.close();
    }),
    { numRuns: runs(200) },
  );
});
