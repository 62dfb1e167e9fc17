import { activeKernel } from "../../kernel/choose.ts";
import type { Column, Summary } from "../../kernel/contract.ts";
import { divideDouble } from "../../kernel/double-double.ts";

/** What folds: a summary, and the mean of its finite values. */
export interface Part extends Summary {
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
export class Run implements Part, Sorted {
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
