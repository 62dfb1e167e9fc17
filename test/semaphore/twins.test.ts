import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { holds, type PermitsInUse } from "../../src/semaphore/permits-in-use.ts";
import { type AcquireAnswer, acquire, extend, release } from "../../src/semaphore/steps.ts";
import { runs as partOf } from "../harness/runs.ts";
import { type OpenStore, onMemory, onRedis } from "../lock/contract/stores.ts";

const token = fc.constantFrom("oriel:a", "oriel:b", "oriel:c", "oriel:d");
const numbers = fc.constantFrom<number[]>([0], [0, 1], [2, 1, 0], [3], [12, 2], [1, 2, 3, 4]);
const leaseMs = fc.constantFrom(10, 50, 1000, 60_000);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("acquire" as const),
      token,
      numbers,
      leaseMs,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("extend" as const), token, leaseMs }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("release" as const), token, notice: fc.constantFrom("", "x") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 9, 10, 11, 51, 1001, 61_000) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Plays a step. A token keeps the numbers of its hold, as in the library. */
function play(
  { store, clock }: OpenStore,
  key: string,
  one: Step,
  held: Map<string, number[]>,
): Promise<unknown> | number {
  if (one.kind === "wait") {
    clock.nowMs += one.ms;
    return clock.nowMs;
  }
  const own = held.get(one.token) ?? [0];
  if (one.kind === "extend") return store.run(extend, key, { ...one, numbers: own });
  if (one.kind === "release") return store.run(release, key, { ...one, numbers: own });
  return store.run(acquire, key, one);
}

/** The permits by their definition. */
class Model {
  nowMs = 0;
  readonly #holds = new Map<string, { numbers: number[]; endMs: number }>();

  played(one: Step, answer: unknown): void {
    if (one.kind === "wait") {
      this.nowMs = answer as number;
      return;
    }
    const own = this.#holds.get(one.token);
    const isLive = own !== undefined && own.endMs >= this.nowMs;
    if (one.kind === "release" || one.kind === "extend") expect(answer).toBe(isLive);
    if (one.kind === "release") this.#holds.delete(one.token);
    if (one.kind === "extend" && isLive) own.endMs = Math.max(own.endMs, this.nowMs + one.leaseMs);
    if (one.kind !== "acquire") return;
    const live = [...this.#holds.values()].filter(({ endMs }) => endMs >= this.nowMs);
    const inUse = live.flatMap((each) => each.numbers);
    const fits = !one.numbers.some((number) => inUse.includes(number));
    const given = answer as AcquireAnswer;
    expect(given.isHeld).toBe(isLive || fits);
    if (given.isHeld) {
      const endMs = Math.max(this.nowMs + one.leaseMs, isLive ? own.endMs : 0);
      this.#holds.set(one.token, { numbers: isLive ? own.numbers : one.numbers, endMs });
      return;
    }
    expect(given.retryInMs).toBeGreaterThan(0);
    expect([...given.busy].sort()).toEqual(inUse.sort());
    // The first hold has ended then, and 1 ms before it has not.
    expect(this.nowMs + given.retryInMs).toBe(Math.min(...live.map(({ endMs }) => endMs)) + 1);
  }

  get inUse(): number {
    const live = [...this.#holds.values()].filter(({ endMs }) => endMs >= this.nowMs);
    return live.reduce((sum, { numbers }) => sum + numbers.length, 0);
  }
}

const seed = Number(process.env.ORIEL_SEED ?? 11);
const numRuns = partOf(Number(process.env.ORIEL_RUNS ?? 300));
let redis: OpenStore;
let memory: OpenStore;
let runs = 0;
beforeAll(async () => {
  redis = await onRedis();
  memory = await onMemory(true);
});
afterAll(() => Promise.all([redis?.close(), memory?.close()]));

test(`Redis and memory answer alike, and as the definition says (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const key = `semaphore:oriel:{run${runs++}}`;
      memory.clock.nowMs = redis.clock.nowMs;
      const model = new Model();
      model.nowMs = redis.clock.nowMs;
      const held = new Map<string, number[]>();
      for (const one of steps) {
        // A hold that is live keeps its numbers: a token belongs to one hold.
        const asked = one.kind === "acquire" && held.has(one.token) ? { ...one, numbers: held.get(one.token)! } : one;
        const [inRedis, inMemory] = [await play(redis, key, asked, held), await play(memory, key, asked, held)];
        expect(inMemory).toEqual(sorted(inRedis, inMemory));
        model.played(asked, inRedis);
        const [listed, twin] = await Promise.all([redis, memory].map(({ store }) => store.run(holds, key, undefined)));
        expect(listed!.count).toBe(model.inUse);
        expect(ordered(listed!)).toEqual(ordered(twin!));
        if (asked.kind === "acquire" && (inRedis as AcquireAnswer).isHeld) held.set(asked.token, asked.numbers);
      }
    }),
    { seed, numRuns },
  );
});

/** Holds with equal ends have no order. */
function ordered({ count, holds: all }: PermitsInUse): PermitsInUse {
  return { count, holds: [...all].sort((a, b) => a.leftMs - b.leftMs || a.permits - b.permits) };
}

/** Numbers with equal ends have no order. */
function sorted(inRedis: unknown, inMemory: unknown): unknown {
  const [a, b] = [inRedis, inMemory].map((each) => (each as { busy?: number[] })?.busy);
  if (!a || !b || [...a].sort().join() !== [...b].sort().join()) return inRedis;
  return { ...(inRedis as object), busy: b };
}
