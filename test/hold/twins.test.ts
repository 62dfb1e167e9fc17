import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AFTER_TRIAL_MS, NUMBER_LIFE_MS, TRIAL_MS } from "../../src/generated/layouts/hold.ts";
import type { Ticket } from "../../src/holds/steps/state.ts";
import { forget, leave, look, renew, take } from "../../src/holds/steps/steps.ts";
import { runs } from "../harness/runs.ts";
import { type OpenStore, onMemory, onRedis } from "../lock/contract/stores.ts";

const PROCESSES = ["a", "b", "c"].map((each) => each.repeat(14));
const process = fc.constantFrom(...PROCESSES);
const numberOfToken = fc.constantFrom("000001", "000002", "000003");
const leaseMs = fc.constantFrom(10, 50, 1000, 60_000, 2 ** 31 - 1);
/** A lock, permits of a semaphore, a reader and a writer. */
const size = fc.constantFrom([1, 1], [1, 3], [2, 3], [3, 3], [1, 2 ** 32 - 1], [2 ** 32 - 1, 2 ** 32 - 1]);

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("take" as const),
      process,
      tickets: fc.uniqueArray(fc.record({ number: numberOfToken, size, leaseMs }), {
        maxLength: 3,
        selector: ({ number }) => number,
      }),
      mayWait: fc.boolean(),
      isGuess: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("leave" as const),
      process,
      number: numberOfToken,
      isGuess: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("renew" as const), process, number: numberOfToken, leaseMs }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 49, TRIAL_MS, 1001) }),
  },
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(-200, 61_000, NUMBER_LIFE_MS + 1) }),
  fc.record({ kind: fc.constant("lose" as const) }),
  fc.record({ kind: fc.constant("forget" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function ticketsOf({ process, tickets }: Extract<Step, { kind: "take" }>): Ticket[] {
  return tickets.map(({ number, size: [permits, limit], leaseMs }) => ({
    token: process + number,
    permits: permits!,
    limit: limit!,
    leaseMs,
  }));
}

/** Takes the step in one store. `numbers` has the number of each token that was granted. */
function play(
  { store, clock, clear }: OpenStore,
  key: string,
  one: Step,
  numbers: Map<string, number>,
  ends: Set<number>,
): unknown {
  if (one.kind === "wait") {
    // The clock is not set back behind the end of a key. Whether the key then exists again depends on the store.
    const atMs = clock.nowMs + one.ms;
    if (one.ms > 0 || ![...ends].some((endMs) => atMs <= endMs && endMs <= clock.nowMs)) clock.nowMs = atMs;
    return clock.nowMs;
  }
  if (one.kind === "lose") return clear();
  if (one.kind === "forget") return store.run(forget, key, undefined);
  if (one.kind === "renew") return store.run(renew, key, { token: one.process + one.number, leaseMs: one.leaseMs });
  if (one.kind === "leave") {
    const token = one.process + one.number;
    return store.run(leave, key, { process: one.process, token, number: one.isGuess ? numbers.get(token) : undefined });
  }
  const tickets = ticketsOf(one);
  const isGuess = one.isGuess && tickets.length === 1;
  return store.run(take, key, { process: one.process, tickets, mayWait: one.mayWait, isGuess });
}

let opened: [OpenStore, Awaited<ReturnType<typeof onRedis>>];
beforeAll(async () => {
  opened = [await onMemory(true), await onRedis()];
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

test("both forms of each step have equal answers, states and expiries, and numbers rise", async () => {
  const [memory, redis] = opened;
  const key = `${memory.store.keyOf("twin")}:lock`;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      redis.clock.nowMs = memory.clock.nowMs;
      const numbers = new Map<string, number>();
      const ends = new Set<number>();
      let last = 0;
      for (const one of steps) {
        const answer = await play(memory, key, one, numbers, ends);
        expect(await play(redis, key, one, numbers, ends)).toEqual(answer);
        const state = await memory.store.run(look, key, undefined);
        expect(await redis.store.run(look, key, undefined)).toEqual(state);
        const expireAtMs = await memory.expiryOf(key);
        expect(await redis.expiryOf(key)).toBe(expireAtMs);
        if (expireAtMs) ends.add(expireAtMs);
        if (one.kind === "lose" || (one.kind === "forget" && answer)) last = 0; // the next number is the time
        for (const { token, number } of state.holds) {
          if (numbers.get(token) === number) continue;
          expect(number).toBeGreaterThan(last);
          last = number;
          numbers.set(token, number);
        }
      }
    }),
    { numRuns: runs(400) },
  );
});

test.each(["memory", "redis, ioredis 6"])("%s: numbers rise when the server's clock is set back", async (name) => {
  const { store, clock, clear } = opened[name === "memory" ? 0 : 1]!;
  await clear();
  const key = `${store.keyOf("back")}:lock`;
  const numbers: number[] = [];
  for (const number of ["000001", "000002", "000003", "000004"]) {
    const [process] = PROCESSES as [string];
    const ticket = { token: process + number, permits: 1, limit: 1, leaseMs: 1000 };
    const { granted } = await store.run(take, key, { process, tickets: [ticket], mayWait: false, isGuess: true });
    numbers.push(granted[0]!.number);
    await store.run(leave, key, { process, token: ticket.token, number: granted[0]!.number });
    clock.nowMs -= 3_600_000;
  }
  clock.nowMs += 4 * 3_600_000;
  expect(numbers).toEqual([0, 1, 2, 3].map((i) => numbers[0]! + i));
});

test.each([
  ["text", "mutex"],
  ["cut off", "\u0001aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
])("a state that is damaged (%s) is CORRUPT, and its bytes do not change", async (_what, value) => {
  const [, { store, raw, clear }] = opened;
  await clear();
  const key = `${store.keyOf("bad")}:lock`;
  await raw.set(key, value);
  const [process] = PROCESSES as [string];
  const token = `${process}000001`;
  const tickets = [{ token, permits: 1, limit: 1, leaseMs: 1000 }];
  const calls = [
    () => store.run(take, key, { process, tickets, mayWait: true, isGuess: true }),
    () => store.run(take, key, { process, tickets, mayWait: true, isGuess: false }),
    () => store.run(leave, key, { process, token, number: 7 }),
    () => store.run(leave, key, { process, token, number: undefined }),
    () => store.run(renew, key, { token, leaseMs: 1000 }),
    () => store.run(look, key, undefined),
  ];
  for (const call of calls) {
    await expect(call()).rejects.toMatchObject({ code: "CORRUPT" });
    expect(await raw.get(key)).toBe(value);
  }
  expect(await store.run(forget, key, undefined)).toBe(true);
  expect(await raw.get(key)).toBe(null);
});

test("a dead process costs one trial, whatever the number of its waiters", async () => {
  for (const { store, clock, clear } of opened) {
    await clear();
    const key = `${store.keyOf("dead")}:lock`;
    const [holder, dead, living] = PROCESSES as [string, string, string];
    const ticketsOf = (process: string, count: number): Ticket[] =>
      Array.from({ length: count }, (_, i) => ({
        token: process + String(i).padStart(6, "0"),
        permits: 1,
        limit: 1,
        leaseMs: 60_000,
      }));
    const ask = (process: string, count: number) =>
      store.run(take, key, { process, tickets: ticketsOf(process, count), mayWait: true, isGuess: false });
    const { granted } = await ask(holder, 1);
    await ask(dead, 60);
    await ask(living, 1);
    const left = await store.run(leave, key, { process: holder, token: granted[0]!.token, number: undefined });
    expect(left).toMatchObject({ isReleased: true, begunTrials: 1, nextMs: AFTER_TRIAL_MS, granted: [] });
    clock.nowMs += TRIAL_MS;
    expect((await ask(living, 1)).granted).toEqual([]);
    clock.nowMs += 1;
    expect((await ask(living, 1)).granted).toMatchObject([{ token: ticketsOf(living, 1)[0]!.token }]);
    expect((await store.run(look, key, undefined)).places).toEqual([]);
  }
});
