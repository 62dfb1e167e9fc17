import type { Column } from "../../kernel/contract.ts";
import { addDoubles, divideDouble } from "../../kernel/double-double.ts";

/** Far enough down that no sum or square of what f64 can hold overflows, and a power of two, so that nothing is rounded. */
const SCALE = 2 ** -540;

/**
 * Sum, mean and sum of squares about the mean of the finite values, for windows whose sums leave the range of f64 on
 * the way: all is added scaled down by 2^540. What is still out of range is an infinity. Values below 2^-482 get lost
 * beside those of some 1e300 that bring a window here. O(n), for windows that are never met.
 */
export function scaledMoments(runs: readonly Column[]): { sum: number; mean: number; m2: number } {
  let count = 0;
  let [high, low] = [0, 0];
  for (const run of runs)
    for (const value of run)
      if (Number.isFinite(value)) {
        count++;
        [high, low] = addDoubles(high, low, value * SCALE, 0);
      }
  const [mean, meanRest] = divideDouble(high, low, count);
  let m2 = 0;
  for (const run of runs)
    for (const value of run) if (Number.isFinite(value)) m2 += (value * SCALE - mean - meanRest) ** 2;
  return { sum: high / SCALE, mean: mean / SCALE, m2: m2 / SCALE / SCALE };
}
