import { activeKernel } from "../../kernel/choose.ts";
import type { Column, Summary } from "../../kernel/contract.ts";
import { addDoubles, divideDouble } from "../../kernel/double-double.ts";

/** What folds: a summary, and the mean of its finite values. */
export interface PartialAggregate extends Summary {
  finiteCount: number;
  /** A double-double; 0 when there are no finite values. */
  meanHigh: number;
  meanLow: number;
}

/** Numbers in ascending order: the first `length` of `sorted`. */
export interface Sorted {
  readonly sorted: Column;
  readonly length: number;
}

/** How many brackets keep their places in a run. */
export const PLACE_SLOTS = 8;
/** Ints a slot takes: the bracket's version, and four places. */
export const PLACE_INTS = 5;

/** A part of a window with its numbers in ascending order (-0 before +0); NaN is counted and left out. */
export class Run implements PartialAggregate, Sorted {
  sorted: Column;
  length = 0;
  count = 0;
  nanCount = 0;
  positiveInfinityCount = 0;
  negativeInfinityCount = 0;
  finiteCount = 0;
  sumHigh = 0;
  sumLow = 0;
  meanHigh = 0;
  meanLow = 0;
  m2 = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Made anew at each query, and so without places. */
  readonly changes: boolean;
  #places: Int32Array | undefined;

  constructor(sorted: Column, changes = false) {
    this.sorted = sorted;
    this.changes = changes;
  }

  /** The run of `values`, which are put in order in place. */
  static of(values: Column): Run {
    const run = new Run(values);
    const kernel = activeKernel();
    Object.assign(run, kernel.summary(values));
    kernel.sort(values);
    run.length = run.count - run.nanCount;
    run.finiteCount = run.length - run.positiveInfinityCount - run.negativeInfinityCount;
    if (run.finiteCount > 0) [run.meanHigh, run.meanLow] = divideDouble(run.sumHigh, run.sumLow, run.finiteCount);
    return run;
  }

  /** Where brackets cut this run, a slot each. Only for a run that never changes. */
  get places(): Int32Array {
    this.#places ??= new Int32Array(PLACE_SLOTS * PLACE_INTS);
    return this.#places;
  }
}

/**
 * Sums up parts into one. The sum is a double-double over the parts' own, M2 is theirs plus what their means lie apart
 * from the common one (Chan, Golub, LeVeque 1979), in double-doubles too, so that an offset of 1e9 costs no digits; NaN
 * and infinities are counted, not added. Where the sum leaves the range of f64, `sumHigh` is not finite and M2 is of no use.
 */
export class Accumulator {
  count = 0;
  nanCount = 0;
  positiveInfinityCount = 0;
  negativeInfinityCount = 0;
  finiteCount = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  sumHigh = 0;
  sumLow = 0;
  readonly #partials: PartialAggregate[] = [];

  /** `part` must stay as it is until the last answer. */
  add(partial: PartialAggregate): void {
    this.count += partial.count;
    this.nanCount += partial.nanCount;
    this.positiveInfinityCount += partial.positiveInfinityCount;
    this.negativeInfinityCount += partial.negativeInfinityCount;
    this.finiteCount += partial.finiteCount;
    this.min = Math.min(this.min, partial.min);
    this.max = Math.max(this.max, partial.max);
    const high = this.sumHigh + partial.sumHigh;
    const added = high - this.sumHigh;
    this.sumLow += this.sumHigh - (high - added) + (partial.sumHigh - added) + partial.sumLow;
    this.sumHigh = high;
    this.#partials.push(partial);
  }

  get m2(): number {
    if (this.finiteCount === 0) return 0;
    const [meanHigh, meanLow] = divideDouble(this.sumHigh, this.sumLow, this.finiteCount);
    let m2 = 0;
    for (const partial of this.#partials) {
      const apart = partial.meanHigh - meanHigh + (partial.meanLow - meanLow);
      m2 += partial.m2 + partial.finiteCount * apart * apart;
    }
    return m2;
  }

  /** All of it as one partial. */
  toPartial(): PartialAggregate {
    const { count, nanCount, positiveInfinityCount, negativeInfinityCount, finiteCount } = this;
    const { min, max, sumHigh, sumLow, m2 } = this;
    const [meanHigh, meanLow] = finiteCount === 0 ? [0, 0] : divideDouble(sumHigh, sumLow, finiteCount);
    const counts = { count, nanCount, positiveInfinityCount, negativeInfinityCount, finiteCount };
    return { ...counts, min, max, sumHigh, sumLow, meanHigh, meanLow, m2 };
  }
}

/** Tells one aggregate from every other, without holding on to it. */
let lastId = 0;

/**
 * The closed segments that lie wholly inside a window, summed up once. While the window moves on and they stay the
 * same, a query needs only what lies around them.
 */
export class CachedAggregate {
  readonly id = ++lastId;
  readonly runs: readonly Run[];
  readonly total: PartialAggregate;

  constructor(runs: readonly Run[]) {
    this.runs = runs;
    const sum = new Accumulator();
    for (const run of runs) sum.add(run);
    this.total = sum.toPartial();
  }
}

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
