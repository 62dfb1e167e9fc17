// The three forms against each other on random columns: every answer equal, bit for bit.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Column, Kernel } from "../../../src/engine/kernel/contract.ts";
import { BUILDS } from "../builds.ts";
import { bytesOf, TYPES } from "../columns.ts";

const value = fc.oneof(
  fc.double(),
  fc.double({ min: -1e3, max: 1e3 }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(-0, 0, 1e308, -1e308, 5e-324, 1e16, Number.POSITIVE_INFINITY, Number.NaN),
);
const finite = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -3, max: 3 }));
/** Short columns of anything, and long ones that repeat a short one with a drift. */
const columns = fc
  .tuple(
    fc.oneof(fc.array(value, { maxLength: 300 }), fc.array(finite, { maxLength: 300 })),
    fc.constantFrom(1, 1, 1, 40),
    fc.constantFrom(...TYPES),
  )
  .map(([list, times, Type]): Column => {
    const column = new Type(list.length * times);
    for (let i = 0; i < column.length; i++) column[i] = list[i % list.length]! * (1 + Math.floor(i / list.length));
    return column;
  });

/** All answers of a kernel about a column, as one text in which -0, +0 and NaN differ. */
function answersOf(kernel: Kernel, column: Column, k: number, limit: number): string {
  const { summary, pairwiseSum, pairwiseSquares, select, rank, sort } = kernel;
  const sorted = column.slice();
  sort(sorted);
  const known = column.filter((x) => !Number.isNaN(x));
  const times = BigInt64Array.from(column, (_, i) => BigInt((i * 37) % 101) - 50n);
  const inside = kernel.trim(times, column, -20n, BigInt(k % 50), k % 2 === 0, false);
  const numbers = [
    ...Object.values(summary(column)),
    pairwiseSum(column),
    pairwiseSquares(column, Number.isFinite(limit) ? limit : 1),
    ...(known.length === 0 ? [] : select(known, k % known.length)),
    ...Object.values(rank(column, limit)),
  ];
  const shown = numbers.map((x) => (Object.is(x, -0) ? "-0" : String(x))).join(" ");
  return [shown, ...[sorted, inside.times, inside.values].map((c) => bytesOf(c).toString("hex"))].join("\n");
}

test("all kernels have the same answers", () => {
  fc.assert(
    fc.property(columns, fc.nat({ max: 20_000 }), value, (column, k, limit) => {
      const [simd, scalar, js] = BUILDS.map((kernel) => answersOf(kernel, column, k, limit));
      expect(scalar).toBe(simd);
      expect(js).toBe(simd);
    }),
    { numRuns: 400 },
  );
});
