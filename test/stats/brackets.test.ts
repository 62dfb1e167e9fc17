import fc from "fast-check";
import { describe, expect, test } from "vitest";
import "../../src/entries/index.ts";
import { RankBrackets } from "../../src/engine/stats/runs/brackets.ts";
import { CachedAggregate, ColumnRun, type Run } from "../../src/engine/stats/runs/run.ts";
import { quickselect } from "../../src/engine/stats/runs/select-runs.ts";

/** Uniform numbers from a seed. */
function random(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    return x / 2 ** 32;
  };
}

function runOf(values: number[]): Run {
  return ColumnRun.of(Float64Array.from(values));
}

const shapes: Record<string, (u: number, step: number) => number> = {
  "spread out": (u) => Math.exp(8 * u),
  drifting: (u, step) => u + step / 3,
  "jumping to and fro": (u, step) => u + (step % 2) * 100,
  "of 17 values": (u) => Math.floor(u * 17),
  "all equal": () => 5,
  "with infinities": (u) => (u < 0.1 ? Number.NEGATIVE_INFINITY : u > 0.9 ? Number.POSITIVE_INFINITY : u),
};

describe("brackets", () => {
  test.each(Object.keys(shapes))("find the same as sorting while runs come and go: values %s", (name) => {
    const next = random(name.length);
    const brackets = new RankBrackets();
    const lists: number[][] = [];
    for (let step = 0; step < 40; step++) {
      lists.push(Array.from({ length: 100 + Math.floor(next() * 900) }, () => shapes[name]!(next(), step)));
      if (lists.length > 16) lists.shift();
      const runs = lists.map(runOf);
      const cachedCount = Math.floor(next() * runs.length);
      const aggregate = new CachedAggregate(runs.slice(0, cachedCount));
      const all = lists.flat().sort((a, b) => a - b);
      for (const share of [0, 0.5, 0.9, 0.99, 1])
        for (const asked of [share, share]) {
          const k = Math.round(asked * (all.length - 1));
          const found = brackets.select(aggregate, runs.slice(cachedCount), all.length, k, 100 * share);
          expect(found, `step ${step}, rank ${k} of ${all.length}`).toEqual([
            all[k],
            all[Math.min(k + 1, all.length - 1)],
          ]);
        }
    }
  });

  test("of more percentiles than the maximum answer for each", () => {
    const next = random(3);
    const brackets = new RankBrackets();
    const run = runOf(Array.from({ length: 6000 }, next));
    const aggregate = new CachedAggregate([]);
    for (let i = 0; i < 400; i++) {
      const k = Math.floor(next() * 6000);
      const [value] = brackets.select(aggregate, [run], 6000, k, i % 40);
      expect(value).toBe(run.at(k));
    }
  });
});

describe("quickselect", () => {
  test("finds every rank, with smaller values before it and larger ones after it", () => {
    const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true }));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 80 }), fc.nat(), (list, any) => {
        const k = any % list.length;
        const values = Float64Array.from(list);
        const found = quickselect(values, k);
        const sorted = Float64Array.from(list).sort();
        expect(found + 0).toBe(sorted[k]! + 0);
        expect(values.subarray(0, k).every((each) => each <= found)).toBe(true);
        expect(values.subarray(k).every((each) => each >= found)).toBe(true);
      }),
    );
  });

  test("stays fast if the pivot is always the worst", () => {
    const killer = Float64Array.from({ length: 4096 }, (_, i) => (i % 2 === 0 ? i : 8192 - i));
    for (const values of [killer, killer.slice().sort(), killer.slice().sort().reverse(), new Float64Array(4096)])
      expect(quickselect(values.slice(), 2000)).toBe(values.slice().sort()[2000]);
  });
});
