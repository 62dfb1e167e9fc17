import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { GroupedWindow, rowAggregates } from "../../src/engine/groups/grouped-window.ts";
import { LateRun } from "../../src/engine/groups/late-run.ts";
import { pairOf } from "../../src/engine/kernel/blocks/pairs.ts";
import { ColumnRun } from "../../src/engine/stats/runs/run.ts";
import { statsOf } from "../../src/engine/stats/window-stats.ts";
import { forceKernel } from "../../src/entries/kernel.ts";
import { expectStats } from "../stats/oracle.ts";

beforeAll(() => forceKernel("js"));

const PERCENTILES = [0, 0.1, 25, 50, 90, 99, 99.9, 100];

/** Values with ties, both zeros, infinities and NaN, of a few groups in a few runs of unequal lengths. */
const shapes = fc.record({
  seed: fc.integer(),
  count: fc.constantFrom(1, 7, 300, 3000, 12_000),
  groups: fc.constantFrom(1, 2, 5, 40),
  runs: fc.constantFrom(1, 3, 20),
  kind: fc.constantFrom("lognormal", "few", "zeros", "special", "equal", "drift"),
});

function drawn(kind: string, random: () => number, i: number): number {
  if (kind === "few") return Math.floor(random() * 4) - 2;
  if (kind === "zeros") return [0, -0, 1, -1][Math.floor(random() * 4)]!;
  if (kind === "special")
    return [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, random()][Math.floor(random() * 4)]!;
  if (kind === "equal") return 0.1;
  if (kind === "drift") return i + random();
  return Math.round(1000 * Math.exp(3 + random() + random() - random())) / 1000;
}

test("a row of sorted slices has the statistics of brute force", () => {
  fc.assert(
    fc.property(shapes, ({ seed, count, groups, runs, kind }) => {
      let state = seed >>> 0;
      const random = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
      };
      const events = Array.from({ length: count }, (_, i) => ({
        number: Math.floor(groups * random() * random()),
        value: Math.fround(drawn(kind, random, i)),
      }));
      const window = new GroupedWindow();
      const lengths = Array.from({ length: runs }, () => random() ** 3);
      const total = lengths.reduce((sum, length) => sum + length, 0);
      let from = 0;
      for (const [i, length] of lengths.entries()) {
        const to = i === runs - 1 ? count : Math.min(count, from + Math.floor((count * length) / total));
        const pairs = events.slice(from, to).map(({ number, value }) => pairOf(number, value));
        const column = Float64Array.from(pairs);
        const isTransient = i % 2 === 0;
        if (pairs.length > 0)
          window.add(i % 3 === 0 ? new LateRun(column, isTransient) : ColumnRun.of(column, isTransient));
        from = to;
      }
      // Each group by itself, and two rows of several.
      for (const rowOf of [(number: number) => number, (number: number) => number % 2]) {
        const places = Int32Array.from({ length: window.maxNumber + 1 }, (_, number) => rowOf(number));
        const rows = rowAggregates([{ events: window, places }], Math.max(...places) + 1);
        for (const [row, aggregates] of rows.entries()) {
          const values = events.filter(({ number }) => places[number] === row).map(({ value }) => value);
          for (const nan of ["propagate", "ignore"] as const) {
            const query = {
              spanMs: 1,
              atMs: 1,
              closed: "right",
              maxAgeMs: 0,
              percentiles: PERCENTILES,
              ddof: 1,
            } as const;
            const stats = statsOf(aggregates, { ...query, method: "lower" }, nan, 0, 1, undefined);
            expectStats(stats, values, { percentiles: PERCENTILES, method: "lower", nan, ddof: 1 });
            if (nan === "ignore" && stats.count > 0) {
              const sorted = Float32Array.from(values.filter((value) => !Number.isNaN(value))).sort();
              expect(Object.is(stats.percentiles[0], sorted[0])).toBe(true);
              expect(Object.is(stats.percentiles[50], sorted[Math.floor((sorted.length - 1) / 2)])).toBe(true);
            }
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});
