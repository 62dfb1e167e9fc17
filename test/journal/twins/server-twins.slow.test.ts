import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Known } from "../../../src/journal/format/answer.ts";
import { encodeFrame } from "../../../src/journal/format/frames.ts";
import { append } from "../../../src/journal/steps/append.ts";
import { closedKey, rotate } from "../../../src/journal/steps/rotate.ts";
import { firstRank, RANKS } from "../../../src/journal/steps/server-answer.ts";
import { serverStats, serverStatsFar } from "../../../src/journal/steps/server-stats.ts";
import { METHODS, percentileRanks } from "../../../src/kernel/percentile/percentile.ts";
import { runs, seen } from "../../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6 } from "../../series/contract/stores.ts";

const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, -0, 1, 2, 3) },
  { weight: 4, arbitrary: fc.double({ noNaN: true, min: -1e6, max: 1e6 }) },
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.7e308, -1.7e308, 5e-324, 1e9 + 0.1),
);
const frame = fc.record({
  values: fc.oneof(
    { weight: 4, arbitrary: fc.array(value, { minLength: 1, maxLength: 5 }) },
    fc.array(value, { minLength: 60, maxLength: 140, size: "max" }),
  ),
  /** Own times, ms from now. */
  ats: fc.option(fc.constantFrom([0], [-5000], [59_999, -4000, 0], [-2, -1, 0, 1], [-80_000, 10_000])),
  producer: fc.constantFrom(1, 2, 4_000_000_000),
  /** The number of a frame sent before, so that it is a copy. */
  isCopy: fc.boolean(),
});
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      frames: fc.array(frame, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "rotate" as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("stats" as const),
      closed: fc.constantFrom("right" as const, "both" as const),
      spanMs: fc.constantFrom(1, 999, 1000, 5000, 80_000, 90_000),
      agoMs: fc.option(fc.constantFrom(-1000, 0, 1, 1000, 25_000)),
      isFar: fc.boolean(),
      newest: fc.constantFrom("right", "right", "right", "older", "newer", "none"),
      percentiles: fc.uniqueArray(fc.constantFrom(0, 0.1, 25, 50, 90, 99, 99.9, 100), { maxLength: 5 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 999, 1000, 5000, 19_999, 20_000, -700),
    }),
  },
  fc.constant({ kind: "lose" as const }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One side of a pair, which plays the same steps. */
class Player {
  readonly #opened: OpenStore;
  readonly #key: string;
  readonly #shape: { valueType: number; clock: number };
  #seen: Pick<Known, "number" | "birth"> = { number: 0, birth: 0 };
  #sequence = 0;

  constructor(opened: OpenStore, shape: { valueType: number; clock: number }) {
    this.#opened = opened;
    this.#key = opened.store.keyOf("twin");
    this.#shape = shape;
  }

  async play(one: Step): Promise<unknown> {
    const { store, clock } = this.#opened;
    const { number, birth } = this.#seen;
    switch (one.kind) {
      case "wait":
        clock.nowMs += one.ms;
        return clock.nowMs;
      case "lose":
        return void (await this.#opened.remove(closedKey(this.#key, number - 2)));
      case "append": {
        const frames = one.frames.map(({ values, ats, producer, isCopy }) => {
          const column = this.#shape.valueType === 1 ? Float64Array.from(values) : Float32Array.from(values);
          const times = ats && values.map((_, i) => clock.nowMs + ats[i % ats.length]!);
          return encodeFrame(producer, isCopy ? this.#sequence : ++this.#sequence, column, times ?? undefined);
        });
        const rest = {
          retentionMs: 90_000,
          voidAfterMs: clock.nowMs + 1,
          birth: 1 + this.#sequence,
          known: "none" as const,
        };
        const answer = await store.run(append, this.#key, { ...this.#shape, ...rest, frames });
        if (answer.header) this.#seen = answer.header;
        return [...answer.verdicts];
      }
      case "rotate": {
        const answer = await store.run(rotate, this.#key, { number, birth, nextBirth: ++this.#sequence });
        if (answer.header) this.#seen = answer.header;
        return answer.status;
      }
      case "stats": {
        const { closed, spanMs, agoMs, percentiles } = one;
        const newest = { right: number - 1, older: number - 2, newer: number + 1, none: undefined }[one.newest];
        const atMs = agoMs === null ? undefined : clock.nowMs - agoMs;
        const input = { ...this.#shape, closed, spanMs, atMs, newest, percentiles: percentiles.sort((a, b) => a - b) };
        return store.run(one.isFar ? serverStatsFar : serverStats, this.#key, input).then(
          (answer) => ({ ...answer, ordered: [...answer.ordered] }),
          ({ code, message }) => ({ code, message }),
        );
      }
    }
  }
}

let opened: OpenStore[];
beforeAll(async () => {
  opened = await Promise.all([onMemory(), onRedis6()]);
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

test("Lua and TypeScript answer the same, bit for bit, after any sequence of steps", async () => {
  const tally = { answered: 0, events: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.record({ valueType: fc.constantFrom(0, 1), clock: fc.constantFrom(0, 1) }),
      fc.array(step, { minLength: 10, maxLength: 40, size: "max" }),
      async (shape, steps) => {
        await Promise.all(opened.map((each) => each.clear()));
        opened[1]!.clock.nowMs = opened[0]!.clock.nowMs;
        const [memory, redis] = opened.map((each) => new Player(each, shape)) as [Player, Player];
        for (const one of steps) {
          const answer = await redis.play(one);
          expect(answer).toEqual(await memory.play(one));
          const { moments } = (answer ?? {}) as { moments?: { count: number } };
          if (moments) tally.answered++;
          tally.events += moments?.count ?? 0;
        }
      },
    ),
    { numRuns: runs(150) },
  );
  expect(tally.answered).toBeGreaterThan(seen(200));
  expect(tally.events).toBeGreaterThan(seen(1000));
});

test("the returned ranks include those that any method needs", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 10_000 })),
      fc.oneof(fc.integer({ min: 0, max: 100 }), fc.double({ min: 0, max: 100, noNaN: true })),
      fc.constantFrom(...METHODS),
      (numbers, p, method) => {
        const { lower, upper } = percentileRanks(method, numbers, p);
        const first = firstRank(numbers, p);
        expect(lower).toBeGreaterThanOrEqual(first);
        expect(upper).toBeLessThan(first + RANKS);
      },
    ),
    { numRuns: 10_000 },
  );
});
