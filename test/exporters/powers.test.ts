import fc from "fast-check";
import { expect, test } from "vitest";
import { Histogram, merged } from "../../src/operate/exporters/histogram.ts";
import { Powers } from "../../src/operate/exporters/powers.ts";

/** Counts by upper boundary, of values each alone. */
function counted(values: readonly number[]): Powers {
  const powers = new Powers();
  for (const value of values) powers.add(value);
  return powers;
}
const sum = ({ zeros, positive, negative }: Powers) =>
  zeros + [...positive.values(), ...negative.values()].reduce((all, count) => all + count, 0);
const sorted = ({ schema, zeros, positive, negative }: Powers) => ({
  ...{ schema, zeros },
  positive: [...positive].sort(([a], [b]) => a - b),
  negative: [...negative].sort(([a], [b]) => a - b),
});

test.each([
  [1, 0],
  [1 + Number.EPSILON, 1],
  [1 - Number.EPSILON / 2, 0],
  [2 ** 50, 400],
  [2 ** 50 + 1, 401],
  [2 ** 53 - 1, 424],
  [2 ** -127, -1016],
  [Number.MAX_VALUE, 8192],
  [Number.POSITIVE_INFINITY, 8193],
  [Number.NaN, 8193],
])("%d has the index %d", (value, index) => {
  expect([...counted([value]).positive]).toEqual([[index, 1]]);
  if (value > 0) expect([...counted([-value]).negative]).toEqual([[index, 1]]);
});

test("values of at most the threshold are zeros", () => {
  expect(counted([0, -0, 2 ** -128, -(2 ** -128), Number.MIN_VALUE])).toMatchObject({ zeros: 5, positive: new Map() });
});

const values = fc.array(fc.double({ noDefaultInfinity: true, noNaN: true }), { maxLength: 400 });

test("each value is in the bucket of its size, no value is lost, and there are at most 160 buckets", () => {
  fc.assert(
    fc.property(values, (all) => {
      const powers = counted(all);
      const { schema, positive, negative } = powers;
      expect(sum(powers)).toBe(all.length);
      expect(positive.size + negative.size).toBeLessThanOrEqual(160);
      for (const [side, sign] of [
        [positive, 1],
        [negative, -1],
      ] as const)
        for (const [index, count] of side) {
          const upper = 2 ** (index / 2 ** schema);
          const lower = Math.max(2 ** ((index - 1) / 2 ** schema), 2 ** -128);
          expect(all.filter((each) => sign * each > lower && sign * each <= upper)).toHaveLength(count);
        }
    }),
  );
});

test("counts that are merged are those of all values", () => {
  fc.assert(
    fc.property(values, values, (some, others) => {
      const powers = counted(some);
      powers.merge(counted(others));
      const together = counted([...some, ...others]);
      together.coarsen(powers.schema);
      expect(sorted(powers)).toEqual(sorted(together));
    }),
  );
});

test("histograms with different boundaries are merged by those that both have", () => {
  const [one, other] = [
    new Histogram({ boundaries: [1, 2, 4], isAsked: true }),
    new Histogram({ boundaries: [2, 3, 4, 5], isAsked: true }),
  ];
  for (const value of [0.5, 1.5, 3, 9]) one.add(value);
  for (const value of [2, 2.5, 3.5, 4.5, Number.NaN]) other.add(value);
  expect(merged(one, other)).toMatchObject({ boundaries: [2, 4], sum: 26.5 });
  expect([...merged(one, other).counts]).toEqual([3, 3, 3]);
});
