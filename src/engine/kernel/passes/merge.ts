import type { Column, Summary } from "../contract.ts";
import { addDoubles, divideDouble, foldLanes, meanOf } from "../double-double.ts";
import type { Block, Passes } from "./passes.ts";

/**
 * Merges the blocks of a fold in their order. Sums are added as double-doubles. Sums of squares are merged by the
 * formula of Chan, Golub and LeVeque (1979), and added by TwoSum. Means are double-doubles too, so that an offset of 1e9
 * costs no digits.
 */
export class Merge {
  readonly #total: Summary = {
    count: 0,
    nanCount: 0,
    positiveInfinityCount: 0,
    negativeInfinityCount: 0,
    sumHigh: 0,
    sumLow: 0,
    m2: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  };
  #finite = 0;
  #mean: [number, number] = [0, 0];
  #lost = 0;
  /** False if there is no -0 for certain; true if there is one, or blocks were not searched for it. */
  negativeZero = false;
  positiveZero = false;

  add({ count, sumHigh, sumLow, squares, about, min, max, census }: Block): void {
    const total = this.#total;
    let finite = count;
    total.count += count;
    if (min < total.min) total.min = min;
    if (max > total.max) total.max = max;
    if (census !== undefined) {
      total.nanCount += census.nan;
      total.positiveInfinityCount += census.positiveInfinity;
      total.negativeInfinityCount += census.negativeInfinity;
      finite -= census.nan + census.positiveInfinity + census.negativeInfinity;
      if (census.negativeZero > 0) this.negativeZero = true;
      if (census.positiveZero > 0) this.positiveZero = true;
    }
    if (finite === 0) return;
    const [meanHigh, meanLow] = divideDouble(sumHigh, sumLow, finite);
    const offset = meanHigh - about + meanLow;
    this.#addSquare(squares === 0 ? 0 : Math.max(0, squares - finite * offset * offset));
    const distance = meanHigh - this.#mean[0] + (meanLow - this.#mean[1]);
    const before = this.#finite;
    this.#finite += finite;
    if (before > 0 && distance !== 0) this.#addSquare(distance * distance * ((before / this.#finite) * finite));
    [total.sumHigh, total.sumLow] = addDoubles(total.sumHigh, total.sumLow, sumHigh, sumLow);
    this.#mean = before > 0 ? divideDouble(total.sumHigh, total.sumLow, this.#finite) : [meanHigh, meanLow];
  }

  /** Null if a sum of finite values overflowed f64. */
  get summary(): Summary | null {
    const total = this.#total;
    if (!Number.isFinite(total.sumHigh)) return null;
    const m2 = total.m2 + this.#lost;
    return {
      ...total,
      m2: total.min === total.max ? 0 : Number.isNaN(m2) ? Number.POSITIVE_INFINITY : m2,
      // Blocks whose minimum or maximum is zero were searched for zeros. Only these decide the sign.
      min: total.min === 0 ? (this.negativeZero ? -0 : 0) : total.min,
      max: total.max === 0 ? (this.positiveZero ? 0 : -0) : total.max,
    };
  }

  #addSquare(x: number): void {
    const next = this.#total.m2 + x;
    const part = next - this.#total.m2;
    this.#lost += this.#total.m2 - (next - part) + (x - part);
    this.#total.m2 = next;
  }
}

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
