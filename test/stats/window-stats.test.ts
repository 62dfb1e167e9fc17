import { expect, test } from "vitest";
import { statsQuery } from "../../src/engine/stats/window-query.ts";
import { statsOf, type WindowAggregates } from "../../src/engine/stats/window-stats.ts";

/** The aggregates of [1, 2], except that every percentile is `value`. */
const answering = (value: number): WindowAggregates => ({
  ...{ count: 2, nanCount: 0, validCount: 2, sum: 3, mean: 1.5, min: 1, max: 2 },
  variance: () => 0.25,
  valuesAt: () => [value, value],
});

test("an answer whose percentiles leave its own min and max is refused", () => {
  const query = statsQuery({ percentiles: [50] }, 1000);
  for (const inside of [1, 1.5, 2])
    expect(statsOf(answering(inside), query, "ignore", 0, 1, undefined).percentiles).toEqual({ 50: inside });
  for (const outside of [0.999, 2.001, Number.POSITIVE_INFINITY])
    expect(() => statsOf(answering(outside), query, "ignore", 0, 1, undefined)).toThrowError(
      expect.objectContaining({
        code: "KERNEL",
        message: `percentile 50 is ${outside}, outside the window's min 1 and max 2`,
      }),
    );
});
