import type { Column, Summary } from "./contract.ts";
import { foldLanes, meanOf } from "./double-double.ts";
import type { Census, Passes } from "./passes.ts";

/** Plain lanes are added by TwoSum each so many values, so that the bound of m2 does not grow with the count. */
const BLOCK = 4096;
const NOTHING_SPECIAL: Census = {
  nan: 0,
  positiveInfinity: 0,
  negativeInfinity: 0,
  negativeZero: 0,
  positiveZero: 0,
};

/** Two passes: compensated sum with extrema, then squares about the mean; a third where the values need a census. */
export function summarize<H>(passes: Passes<H>, values: Column): Summary {
  const held = passes.hold(values);
  const lanes = passes.lanes(held);
  const plain = lanes.allFinite && lanes.min !== 0 && lanes.max !== 0;
  const census = plain ? NOTHING_SPECIAL : passes.census(held);
  const finite = values.length - census.nan - census.positiveInfinity - census.negativeInfinity;
  let [sumHigh, sumLow] = foldLanes(lanes.high, lanes.low);
  let mean = meanOf(sumHigh, sumLow, finite);
  if (!Number.isFinite(sumHigh)) ({ sumHigh, sumLow, mean } = sumScaled(values, finite));
  return {
    count: values.length,
    nanCount: census.nan,
    positiveInfinityCount: census.positiveInfinity,
    negativeInfinityCount: census.negativeInfinity,
    sumHigh,
    sumLow,
    m2: finite === 0 ? 0 : squaresAbout(passes, held, values.length, mean),
    min: lanes.min === 0 ? (census.negativeZero > 0 ? -0 : 0) : lanes.min,
    max: lanes.max === 0 ? (census.positiveZero > 0 ? 0 : -0) : lanes.max,
  };
}

function squaresAbout<H>(passes: Passes<H>, held: H, count: number, mean: number): number {
  let sum = 0;
  let lost = 0;
  for (let begin = 0; begin < count; begin += BLOCK) {
    const x = passes.squares(held, begin, Math.min(begin + BLOCK, count), mean);
    const next = sum + x;
    const part = next - sum;
    lost += sum - (next - part) + (x - part);
    sum = next;
  }
  return Number.isFinite(sum) ? sum + lost : Number.POSITIVE_INFINITY;
}

/** The sum of values so large that a partial sum left the range of f64: once more, all scaled down by 2^33. */
function sumScaled(values: Column, finite: number): { sumHigh: number; sumLow: number; mean: number } {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const x = value * 2 ** -33;
    const next = sum + x;
    const part = next - sum;
    lost += sum - (next - part) + (x - part);
    sum = next;
  }
  const [high, low] = foldLanes([sum], [lost]);
  const sumHigh = high * 2 ** 33;
  return {
    sumHigh,
    sumLow: Number.isFinite(sumHigh) ? low * 2 ** 33 : 0,
    mean: meanOf(high, low, finite) * 2 ** 33,
  };
}
