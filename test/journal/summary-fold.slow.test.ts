import fc from "fast-check";
import { expect, test } from "vitest";
import "../../src/entries/index.ts";
import { Digest } from "../../src/journal/format/digest.ts";
import { SummaryFold } from "../../src/series/summary/summary-fold.ts";
import { statsOf } from "../../src/stats/window-stats.ts";
import { type Event, inside, rankErrorOf } from "../stats/oracle.ts";
import { uniformOf } from "../stats/random.ts";

const PERCENTILES = [0, 0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 100];

/** Distributions that are hard on summaries of order. */
const VALUES: Record<string, (random: () => number, i: number) => number> = {
  uniform: (random) => random(),
  equal: () => 7,
  clusters: (random) => (random() < 0.5 ? 1 + 1e-6 * random() : 1e6 + random()),
  "heavy tails": (random) => 1 / random() ** 3,
  "few values": (random) => Math.floor(4 * random()),
  rising: (_random, i) => i,
  falling: (_random, i) => -i,
  "one moment": (random, i) => (i % 100 < 10 ? 1e9 : random()),
  zeros: (random) => (random() < 0.3 ? -0 : random() < 0.5 ? 0 : random() - 0.5),
  infinities: (random) =>
    random() < 0.1 ? Number.POSITIVE_INFINITY : random() < 0.1 ? Number.NEGATIVE_INFINITY : random(),
};

test.each(Object.keys(VALUES))("the error of each answer is within its stated bound: %s", (name) => {
  const shape = fc.record({
    seed: fc.integer(),
    count: fc.integer({ min: 1, max: 3000 }),
    each: fc.integer({ min: 1, max: 700 }),
    rankError: fc.constantFrom(0, 0.002, 0.01, 0.03, 0.2),
    exact: fc.nat(400),
    gapMs: fc.constantFrom(0, 1, 20),
    from: fc.double({ min: -0.1, max: 1.1, noNaN: true }),
    to: fc.double({ min: 0.1, max: 1.1, noNaN: true }),
    closed: fc.constantFrom("right" as const, "both" as const),
    method: fc.constantFrom(
      "linear" as const,
      "hazen" as const,
      "inverted_cdf" as const,
      "closest_observation" as const,
    ),
  });
  fc.assert(
    fc.property(shape, ({ seed, count, each, rankError, exact, gapMs, from, to, closed, method }) => {
      const random = uniformOf(seed);
      let t = 1000;
      const events: Event[] = Array.from({ length: count }, (_, i) => {
        t += Math.floor(gapMs * random() * 2);
        return { t, value: VALUES[name]!(random, i) };
      });
      const [fromMs, toMs] = [from, to].map((x) => Math.floor(1000 + x * (t - 1000)));
      const fold = new SummaryFold();
      const digests: Digest[] = [];
      const summedUp = Math.max(0, count - exact);
      for (let i = 0; i < summedUp; i += each) {
        const some = events.slice(i, Math.min(summedUp, i + each));
        const values = Float64Array.from(some, ({ value }) => value);
        digests.push(Digest.from(values, rankError, some[0]!.t, some.at(-1)!.t));
      }
      fold.addDigests(digests, fromMs!, toMs!, closed);
      for (const { t, value } of events.slice(summedUp))
        if (inside([{ t, value }], fromMs!, toMs!, closed).length > 0)
          fold.add(Digest.from(Float64Array.of(value), 0, t, t));
      const expected = inside(events, fromMs!, toMs!, closed);
      const query = { percentiles: PERCENTILES, method, ddof: 0 };
      const got = statsOf(fold, query as never, "ignore", fromMs!, toMs!, undefined);
      expect(Math.abs(got.count - expected.length)).toBeLessThanOrEqual(fold.uncertain);
      const sorted = [...expected].sort((a, b) => a - b);
      if (expected.length > 0 && got.count > 0)
        for (const p of PERCENTILES)
          if (fold.rankError > 0)
            expect(rankErrorOf(sorted, got.percentiles[p]!, p)).toBeLessThanOrEqual(fold.rankError + 1e-12);
      if (fold.uncertain > 0 || expected.length === 0) return;
      expect([got.count, got.min, got.max]).toEqual([expected.length, Math.min(...expected), Math.max(...expected)]);
      if (!expected.every(Number.isFinite)) return;
      const sizes = expected.reduce((sum, x) => sum + Math.abs(x), 0);
      const mean = expected.reduce((sum, x) => sum + x / expected.length, 0);
      const variance = expected.reduce((sum, x) => sum + (x - mean) ** 2 / expected.length, 0);
      const sum = expected.reduce((sum, x) => sum + x, 0);
      expect(Math.abs(got.sum - sum)).toBeLessThanOrEqual(1e-10 * sizes);
      expect(Math.abs(got.variance - variance)).toBeLessThanOrEqual(1e-7 * variance + 1e-10 * mean ** 2);
    }),
    { numRuns: 150 },
  );
});
