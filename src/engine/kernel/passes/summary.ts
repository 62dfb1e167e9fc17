import type { Column, Summary } from "../contract.ts";
import { foldLanes, meanOf } from "../double-double.ts";
import { Merge } from "./merge.ts";
import type { Passes } from "./passes.ts";

/** The summary of a column, in one pass over its blocks. A few blocks are read twice; see assembly/sums/fold.ts. */
export function summarize<H>(passes: Pick<Passes<H>, "hold" | "fold">, values: Column): Summary {
  const merge = new Merge();
  passes.fold(passes.hold(values), Number.NaN, (block) => merge.add(block));
  return merge.summary ?? scaled(values);
}

/** The summary of values whose partial sums overflow f64. Values are scaled by 2^-33 before they are added. */
function scaled(values: Column): Summary {
  let sum = 0;
  let lost = 0;
  const counts = { nanCount: 0, positiveInfinityCount: 0, negativeInfinityCount: 0 };
  const ends = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  for (const value of values) {
    if (value < ends.min) ends.min = value;
    if (value > ends.max) ends.max = value;
    if (Number.isNaN(value)) counts.nanCount++;
    else if (value === Number.POSITIVE_INFINITY) counts.positiveInfinityCount++;
    else if (value === Number.NEGATIVE_INFINITY) counts.negativeInfinityCount++;
    else {
      const x = value * 2 ** -33;
      const next = sum + x;
      const part = next - sum;
      lost += sum - (next - part) + (x - part);
      sum = next;
    }
  }
  const finite = values.length - counts.nanCount - counts.positiveInfinityCount - counts.negativeInfinityCount;
  const [high, low] = foldLanes([sum], [lost]);
  const mean = meanOf(high, low, finite) * 2 ** 33;
  let m2 = 0;
  for (const value of values) if (Number.isFinite(value)) m2 += (value - mean) ** 2;
  const sumHigh = high * 2 ** 33;
  const sumLow = Number.isFinite(sumHigh) ? low * 2 ** 33 : 0;
  return { count: values.length, ...counts, sumHigh, sumLow, m2, ...ends };
}
