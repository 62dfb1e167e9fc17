import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METHODS } from "../../src/engine/kernel/percentile/percentile.ts";
import { LIVE_LIMITS, type LocalPercentileOptions } from "../../src/engine/stats/live/percentile-queries.ts";
import { expectStats, inside } from "./oracle.ts";
import { RETENTION_MS, START_MS, Watched } from "./watched.ts";

/** So tight that brackets are drawn anew, states given up and questions forgotten within some events. */
const tight = fc.record({
  maxWidth: fc.constantFrom(1, 2, 3, 8, 40),
  maxChanges: fc.constantFrom(2, 12, 1000),
  patience: fc.constantFrom(0, 0, 1),
  maxQueries: fc.constantFrom(1, 2, 8),
});

const finite = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constant(-0),
  fc.integer({ min: 0, max: 1000 }),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
);
const any = fc.oneof(
  { weight: 20, arbitrary: finite },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY) },
);
const forwardMs = fc.constantFrom(0, 0, 1, 1, 1, 2, 7);
const question = fc.record({
  p: fc.constantFrom(0, 1, 50, 99, 100, 33.3),
  options: fc.record(
    {
      span: fc.constantFrom(1, 20, 200, "2s" as const),
      method: fc.constantFrom(...METHODS),
      closed: fc.constantFrom("right" as const, "both" as const),
    },
    { requiredKeys: [] },
  ),
});

function steps(value: fc.Arbitrary<number>, aheadMs: readonly number[]) {
  const step = fc.oneof(
    { weight: 12, arbitrary: fc.record({ kind: fc.constant("record" as const), ms: forwardMs, value }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("many" as const),
        ms: forwardMs,
        values: fc.array(value, { maxLength: 15 }),
        aheadMs: fc.constantFrom(0, 0, 0, ...aheadMs),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("at" as const),
        value,
        aheadMs: fc.constantFrom(0, ...aheadMs),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(15, 150, 1000, 2500, -40) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("ask" as const), question }) },
  );
  return fc.array(step, { maxLength: 120, size: "max" });
}

describe("a percentile kept up to date", () => {
  for (const values of ["float32", "float64"] as const)
    for (const nan of ["reject", "ignore", "propagate"] as const)
      test(`${values}, nan ${nan}: equals brute force whatever happens in between`, () => {
        let live = 0;
        const value = nan === "reject" ? finite : any;
        const inOrder = steps(value, []);
        const inAnyOrder = steps(value, [-1, -10, -150, -1500, 1, 30]);
        const property = fc.property(fc.oneof(inOrder, inOrder, inAnyOrder), question, tight, (all, always, bounds) => {
          const series = new Watched({ values, nan }, bounds);
          let nowMs = START_MS;
          for (const step of all) {
            if (step.kind === "wait") series.time.nowMs += step.ms;
            if (step.kind === "record" || step.kind === "many") series.time.nowMs += step.ms;
            nowMs = Math.max(nowMs, series.time.nowMs);
            if (step.kind === "record") series.add(step.value, series.time.nowMs < nowMs ? nowMs : undefined);
            if (step.kind === "at") series.add(step.value, nowMs + step.aheadMs);
            if (step.kind === "many") series.addMany(step.values, nowMs + step.aheadMs);
            if (series.ask(always.p, always.options)) live++;
            if (step.kind !== "ask") continue;
            series.ask(step.question.p, step.question.options);
            const { p, options } = always;
            const { span = RETENTION_MS, closed, method } = options;
            const fromMs = nowMs - (span === "2s" ? RETENTION_MS : span);
            const stats = series.stats({ ...options, percentiles: [p] });
            expectStats(stats, inside(series.events, fromMs, nowMs, closed), { percentiles: [p], method, nan });
          }
        });
        fc.assert(property, { numRuns: 150 });
        expect(live).toBeGreaterThan(1000);
      });
});

/** A generator that repeats itself. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const SHAPES: Record<string, (random: () => number, i: number) => number> = {
  lognormal: (random) => Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())),
  ties: (random) => Math.round(8 * random()),
  "drift up": (random, i) => i / 100 + 10 * random(),
  "drift down": (random, i) => -i / 100 + 10 * random(),
  ascending: (_random, i) => i,
  descending: (_random, i) => -i,
  "one value": () => 7,
  "a value that moves": (_random, i) => Math.floor(i / 700) % 3,
  waves: (random, i) => Math.sin(i / 300) + random() / 10,
};

const NONE: LocalPercentileOptions = {};

describe("over thousands of events", () => {
  for (const [name, shape] of Object.entries(SHAPES))
    test.each([1, 20, 4096])(`${name}: every answer equals stats, with brackets of %i ranks`, (maxWidth) => {
      const series = new Watched({ retention: 1000, compact: maxWidth === 20 }, { ...LIVE_LIMITS, maxWidth });
      const random = uniform(maxWidth);
      let lookups = 0;
      for (let i = 0; i < 2500; i++) {
        series.time.nowMs += random() < 0.9 ? 1 : 0;
        series.add(shape(random, i));
        for (const p of [50, 99, 100]) if (!series.ask(p, NONE)) lookups++;
      }
      expect(lookups).toBeLessThan(12);
      const { nowMs } = series.time;
      const held = inside(series.events, nowMs - 1000, nowMs);
      expectStats(series.stats({ percentiles: [50, 99, 100] }), held, { percentiles: [50, 99, 100] });
    });
});
