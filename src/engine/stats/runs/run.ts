import { runKernel } from "../../kernel/choose.ts";
import type { Column, Summary } from "../../kernel/contract.ts";
import { addDoubles, divideDouble } from "../../kernel/double-double.ts";

/** The statistics of a part of a window, which an `Accumulator` adds up. */
export interface PartialAggregate extends Summary {
  finiteCount: number;
  /** Mean of the finite values, as a double-double; 0 if there are none. */
  meanHigh: number;
  meanLow: number;
}

/** `length` numbers in ascending order, -0 before +0. Indexes are from 0 to `length`. */
export interface Sorted {
  readonly length: number;
  at(i: number): number;
  /** Index of the first number from `from` to before `to` that is not below `limit`; `to` if there is none. */
  lowerBound(limit: number, from: number, to: number): number;
  /** Index of the first number from `from` to before `to` that is above `limit`; `to` if there is none. */
  upperBound(limit: number, from: number, to: number): number;
  /** Writes the numbers from `from` to before `to` to `into`, from index `at` on. */
  copyTo(into: Float64Array, at: number, from: number, to: number): void;
  /** The numbers from `from` to before `to`. They may be a view, so the caller must not change them. */
  part(from: number, to: number): Column;
}

/** Number of brackets whose cuts a run can cache. */
export const CUT_SLOTS = 8;
/** Integers per slot: the bracket's version, and four cuts. */
export const INTS_PER_CUT = 5;

/**
 * A part of a window: its statistics, and its numbers in ascending order. NaN is only counted. A run never changes once it
 * was made, and shares no memory that does. Folds therefore keep runs across turns, while other queries are answered.
 */
export abstract class Run implements PartialAggregate, Sorted {
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
  /** True if each query makes a new run of these events. Then it caches no cuts. */
  readonly isTransient: boolean;
  #cuts: Int32Array | undefined;

  constructor(isTransient = false) {
    this.isTransient = isTransient;
  }

  abstract at(i: number): number;
  abstract lowerBound(limit: number, from: number, to: number): number;
  abstract upperBound(limit: number, from: number, to: number): number;
  abstract copyTo(into: Float64Array, at: number, from: number, to: number): void;
  abstract part(from: number, to: number): Column;

  /** The indexes at which brackets cut this run, one slot per bracket. Only for a run that is not transient. */
  get cuts(): Int32Array {
    this.#cuts ??= new Int32Array(CUT_SLOTS * INTS_PER_CUT);
    return this.#cuts;
  }

  protected describe(summary: Summary): void {
    Object.assign(this, summary);
    this.length = this.count - this.nanCount;
    this.finiteCount = this.length - this.positiveInfinityCount - this.negativeInfinityCount;
    if (this.finiteCount > 0) [this.meanHigh, this.meanLow] = divideDouble(this.sumHigh, this.sumLow, this.finiteCount);
  }
}

/** A run whose numbers are the first `length` of a column. */
export class ColumnRun extends Run {
  sorted: Column;

  constructor(sorted: Column, isTransient = false) {
    super(isTransient);
    this.sorted = sorted;
  }

  /** The run of `values`, which are sorted in place. */
  static of(values: Column, isTransient = false): ColumnRun {
    const run = new ColumnRun(values, isTransient);
    const kernel = runKernel();
    run.describe(kernel.summary(values));
    kernel.sort(values);
    return run;
  }

  at(i: number): number {
    return this.sorted[i]!;
  }

  lowerBound(limit: number, from: number, to: number): number {
    return lowerBound(this.sorted, limit, from, to);
  }

  upperBound(limit: number, from: number, to: number): number {
    return upperBound(this.sorted, limit, from, to);
  }

  copyTo(into: Float64Array, at: number, from: number, to: number): void {
    const { sorted } = this;
    for (let i = from; i < to; i++) into[at + i - from] = sorted[i]!;
  }

  part(from: number, to: number): Column {
    return this.sorted.subarray(from, to);
  }
}

/** Index of the first value from `from` to before `to` that is not below `limit`; `to` if there is none. */
export function lowerBound(sorted: Column, limit: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first value from `from` to before `to` that is above `limit`; `to` if there is none. */
export function upperBound(sorted: Column, limit: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Adds up partial aggregates. The sum is a double-double. M2, the sum of squared distances from the mean, is merged by
 * the formula of Chan, Golub and LeVeque (1979). Means are double-doubles too, so that an offset of 1e9 costs no digits.
 * NaN and infinities are only counted. If the sum overflows f64, `sumHigh` is not finite and `m2` is meaningless.
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

  /** Keeps `partial`, which does not change. */
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
      const distance = partial.meanHigh - meanHigh + (partial.meanLow - meanLow);
      m2 += partial.m2 + partial.finiteCount * distance * distance;
    }
    return m2;
  }

  /** Everything added so far, as one partial aggregate. */
  toPartial(): PartialAggregate {
    const { count, nanCount, positiveInfinityCount, negativeInfinityCount, finiteCount } = this;
    const { min, max, sumHigh, sumLow, m2 } = this;
    const [meanHigh, meanLow] = finiteCount === 0 ? [0, 0] : divideDouble(sumHigh, sumLow, finiteCount);
    const counts = { count, nanCount, positiveInfinityCount, negativeInfinityCount, finiteCount };
    return { ...counts, min, max, sumHigh, sumLow, meanHigh, meanLow, m2 };
  }
}

/** Source of ids. Brackets compare ids, so that they keep no reference to an aggregate. */
let lastId = 0;

/**
 * The total of the closed segments that lie wholly inside a window. It stays valid while the window moves, until one of
 * these segments leaves or another one is closed. A query then reads only the segments at the window's edges.
 */
export class CachedAggregate {
  readonly id = ++lastId;
  readonly runs: readonly Run[];
  readonly total: PartialAggregate;

  /** `total`: of the runs, and of values that are in none of them. Default: of the runs. */
  constructor(runs: readonly Run[], total = totalOf(runs)) {
    this.runs = runs;
    this.total = total;
  }
}

function totalOf(runs: readonly Run[]): PartialAggregate {
  const sum = new Accumulator();
  for (const run of runs) sum.add(run);
  return sum.toPartial();
}

/** Scaled by this, no sum or square of f64 values overflows. It is a power of two, so that scaling does not round. */
const SCALE = 2 ** -540;

/**
 * Sum, mean and sum of squared distances from the mean of the finite values, for windows whose sum overflows f64.
 * Values are scaled by 2^-540 before they are added. A result that is still out of range is an infinity. Values below
 * 2^-482 are lost, beside the values of about 1e300 that cause the overflow. Cost: O(n), for windows rare in practice.
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
