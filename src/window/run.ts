import type { Column, Summary } from "../kernel/contract.ts";
import { divideDouble } from "../kernel/double-double.ts";

/** How many brackets of one series keep their places in its runs. */
export const MOST_BRACKETS = 8;

/** A part of a window as a query folds it: its summary, its numbers in ascending order, and where to look in them first. */
export class Run {
  readonly summary: Summary;
  readonly sorted: Column;
  readonly finiteCount: number;
  /** Mean of the finite values, a double-double. */
  readonly meanHigh: number;
  readonly meanLow: number;
  #places: Int32Array | undefined;

  /** `sorted`: all of the part, NaN last; NaN is left out of the run. */
  constructor(summary: Summary, sorted: Column) {
    const { count, nanCount, positiveInfinityCount, negativeInfinityCount, sumHigh, sumLow } = summary;
    this.summary = summary;
    this.sorted = nanCount === 0 ? sorted : sorted.subarray(0, count - nanCount);
    this.finiteCount = count - nanCount - positiveInfinityCount - negativeInfinityCount;
    [this.meanHigh, this.meanLow] = this.finiteCount === 0 ? [0, 0] : divideDouble(sumHigh, sumLow, this.finiteCount);
  }

  /** Where each bracket's two bounds lay in this run when they were last looked for: guesses, right or wrong. */
  get places(): Int32Array {
    this.#places ??= new Int32Array(2 * MOST_BRACKETS);
    return this.#places;
  }
}
