// Every build, every kernel, every length and shape, both types: against brute force, between guard bytes.
import { describe, expect, test } from "vitest";
import type { Column, Kernel } from "../../../src/engine/kernel/contract.ts";
import { BUILDS } from "../builds.ts";
import { bytesOf, type ColumnType, guarded, LENGTHS, randomOf, SHAPES, TYPES } from "../columns.ts";
import { exactMoments, inOrder, numpySum, sumError } from "../oracle.ts";

const answers = new Map<string, unknown>();

/** The oracles' answers, which all builds share. */
function once<T>(key: string, compute: () => T): T {
  if (!answers.has(key)) answers.set(key, compute());
  return answers.get(key) as T;
}

function sortedOf(column: Column, where: string): number[] {
  return once(`sorted ${column.constructor.name} ${where}`, () => [...column].sort(inOrder));
}

/** Runs `check` for each length with a fresh column; the input must come back unchanged, and its guards too. */
function overLengths(
  Type: ColumnType,
  shape: keyof typeof SHAPES,
  check: (column: Column, where: string) => void,
): void {
  for (const n of LENGTHS) {
    const { column, check: guards } = guarded(Type, SHAPES[shape]!(n, randomOf(n * 7919 + 1)));
    const before = Buffer.from(bytesOf(column));
    check(column, `${shape} n=${n}`);
    expect(guards(), `guards, ${shape} n=${n}`).toBe(true);
    expect(bytesOf(column).equals(before), `input, ${shape} n=${n}`).toBe(true);
  }
}

const CASES = BUILDS.flatMap((kernel) => TYPES.map((Type) => ({ kernel, Type, title: `${kernel.name} ${Type.name}` })));

describe.each(CASES)("$title", ({ kernel, Type }: { kernel: Kernel; Type: ColumnType }) => {
  test.each(Object.keys(SHAPES))("summary of %s", (shape) => {
    overLengths(Type, shape, (column, where) => {
      const got = kernel.summary(column);
      const exact = once(`moments ${Type.name} ${where}`, () => exactMoments(column));
      const known = sortedOf(column, where).filter((x) => !Number.isNaN(x));
      expect(got.count, where).toBe(column.length);
      expect(got.nanCount, where).toBe(column.length - known.length);
      expect(got.positiveInfinityCount, where).toBe(known.filter((x) => x === Number.POSITIVE_INFINITY).length);
      expect(got.negativeInfinityCount, where).toBe(known.filter((x) => x === Number.NEGATIVE_INFINITY).length);
      expect(got.min, where).toBe(known[0] ?? Number.POSITIVE_INFINITY);
      expect(got.max, where).toBe(known.at(-1) ?? Number.NEGATIVE_INFINITY);
      expect(sumError(exact, got.sumHigh, got.sumLow), where).toBeLessThan(2 ** -90);
      if (exact.m2 === 0) expect(got.m2, where).toBe(0);
      else expect(Math.abs(got.m2 / exact.m2 - 1), where).toBeLessThan(1e-12);
    });
  });

  test.each(Object.keys(SHAPES))("pairwise sum and squares of %s", (shape) => {
    const round = Type === Float32Array ? Math.fround : (x: number) => x;
    overLengths(Type, shape, (column, where) => {
      const values = [...column];
      const mean = round(values.length === 0 ? 0 : values[0]! * 0.75);
      const [sum, squares] = once(`pairwise ${Type.name} ${where}`, () => [
        numpySum(values, round),
        numpySum(
          values.map((x) => round(round(x - mean) ** 2)),
          round,
        ),
      ]);
      expect(kernel.pairwiseSum(column), where).toBe(sum);
      expect(kernel.pairwiseSquares(column, mean), where).toBe(squares);
    });
  });

  test.each(Object.keys(SHAPES))("sort of %s", (shape) => {
    for (const n of LENGTHS) {
      const { column, check } = guarded(Type, SHAPES[shape]!(n, randomOf(n * 7919 + 1)));
      const sorted = new Type(sortedOf(column, `${shape} n=${n}`));
      kernel.sort(column);
      expect(bytesOf(column).equals(bytesOf(sorted)), `n=${n}`).toBe(true);
      expect(check(), `guards n=${n}`).toBe(true);
    }
  });

  test.each(Object.keys(SHAPES))("select from %s", (shape) => {
    overLengths(Type, shape, (column, where) => {
      const known = column.filter((x) => !Number.isNaN(x));
      const n = known.length;
      const sorted = sortedOf(column, where).slice(0, n);
      const ranks =
        n <= 70 ? sorted.keys() : [0, 1, 0.01 * n, 0.5 * n, 0.9 * n, 0.99 * n, n - 2, n - 1].map(Math.floor);
      const wrong = [...ranks].filter((k) => {
        const [value, next] = kernel.select(known, k);
        return !Object.is(value, sorted[k]) || !Object.is(next, sorted[Math.min(k + 1, n - 1)]);
      });
      expect(wrong, `ranks, ${where}`).toEqual([]);
    });
  });

  test.each(Object.keys(SHAPES))("rank in %s", (shape) => {
    overLengths(Type, shape, (column, where) => {
      const limits = [column[column.length >> 1] ?? 0, 0, 0.1, -0.1, 1e39, -1e39, Number.POSITIVE_INFINITY, Number.NaN];
      const wrong = limits.filter((limit) => {
        const known = { below: 0, equal: 0 };
        for (const x of column) {
          if (x < limit) known.below++;
          if (x === limit) known.equal++;
        }
        const { below, equal } = kernel.rank(column, limit);
        return below !== known.below || equal !== known.equal;
      });
      expect(wrong, `limits, ${where}`).toEqual([]);
    });
  });

  test.each(["special", "lognormal"])("trim of %s, sorted and unsorted, with both closed sides", (shape) => {
    overLengths(Type, shape, (column, where) => {
      const random = randomOf(column.length + 5);
      const edge = 2n ** 33n;
      const drawn = BigInt64Array.from(column, () => edge + BigInt(Math.floor(20 * random()) - 10));
      for (const sorted of [false, true]) {
        const times = sorted ? drawn.slice().sort() : drawn;
        for (const both of [false, true])
          for (const [from, to] of [
            [edge - 3n, edge + 4n],
            [-(2n ** 70n), edge],
            [edge, 2n ** 70n],
            [edge + 4n, edge - 3n],
          ] as const) {
            const inside = [...times.keys()].filter(
              (i) => (both ? times[i]! >= from : times[i]! > from) && times[i]! <= to,
            );
            const got = kernel.trim(times, column, from, to, both, sorted);
            const instants = BigInt64Array.from(inside, (i) => times[i]!);
            expect(bytesOf(got.times).equals(bytesOf(instants)), where).toBe(true);
            const values = new Type(inside.length);
            for (const [place, i] of inside.entries()) values[place] = column[i]!;
            expect(bytesOf(got.values).equals(bytesOf(values)), where).toBe(true);
          }
      }
    });
  });
});
