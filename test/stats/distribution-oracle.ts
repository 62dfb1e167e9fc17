import { expect } from "vitest";
import type { Histogram, Ranks } from "../../src/engine/stats/distribution.ts";

type Header = Pick<Histogram, "from" | "to" | "degraded">;

/** Counts the values between each two bounds, one by one. */
export function expectHistogram(
  histogram: Histogram,
  values: readonly number[],
  bounds: readonly number[],
  header: Header,
) {
  const counts = [...bounds, Number.POSITIVE_INFINITY].map((bound, i, all) => {
    const isLast = i === bounds.length;
    return values.filter((value) => (isLast || value <= bound) && (i === 0 || value > all[i - 1]!)).length;
  });
  expect(histogram).toMatchObject({ ...header, count: values.length });
  expect([...histogram.bounds]).toEqual(bounds);
  expect([...histogram.counts]).toEqual(counts);
}

export function expectRanks(ranks: Ranks, values: readonly number[], numbers: readonly number[], header: Header) {
  expect(ranks).toMatchObject({ ...header, count: values.length });
  expect([...ranks.below]).toEqual(numbers.map((number) => values.filter((value) => value < number).length));
  expect([...ranks.atMost]).toEqual(numbers.map((number) => values.filter((value) => value <= number).length));
}
