import type { Column, KernelName } from "./contract.ts";

/** The lanes that one pass over a column leaves, to be folded by `summarize`; see assembly/lanes.ts for the law. */
export interface Lanes {
  /** 8 TwoSum lanes: high takes the rounded sum, low what rounding lost. */
  high: Float64Array;
  low: Float64Array;
  /** NaN skipped, infinities taken; the sign of a zero is not settled. */
  min: number;
  max: number;
  allFinite: boolean;
}

/** Exact counts of the values that arithmetic must not meet unasked. */
export interface Census {
  nan: number;
  positiveInfinity: number;
  negativeInfinity: number;
  negativeZero: number;
  positiveZero: number;
}

/** The values within two limits, in order, where the form can read them. */
export interface Collected<H> {
  /** How many are below the lower limit; NaN counts here. */
  below: number;
  allNumbers: boolean;
  count: number;
  /** Valid until the next call of `hold`, `collect` from the same column, `sort` or `trim`. */
  inside: H;
}

/** A step of a radix selection: see assembly/narrow.ts for the law. */
export interface Narrowed {
  /** How many values are below `first`; of no use when `found`. */
  before: number;
  /** `first` and `last` are the value at rank k and its successor; else limits, both included, around the two. */
  found: boolean;
  first: number;
  last: number;
}

/**
 * What a form must do itself: the loops over values. All that decides or folds is written once, above it (`kernelOf`).
 * `H` is a column where the form can read it: the column itself, or its place in WebAssembly memory. A held column is
 * valid until the next call of `hold`, `sort` or `trim`.
 */
export interface Passes<H> {
  readonly name: KernelName;
  hold(values: Column): H;
  lanes(held: H): Lanes;
  /** Squares about the mean of the finite values from `begin` to before `end`, in plain lanes (at most 4096 values). */
  squares(held: H, begin: number, end: number, mean: number): number;
  census(held: H): Census;
  pairwiseSum(held: H): number;
  pairwiseSquares(held: H, mean: number): number;
  /** Those from `first` to `last`, numbers of the column's type. What was collected may be collected from, and is spent. */
  collect(held: H, first: number, last: number): Collected<H>;
  /** `held` has no NaN, more than k values, and all of them from `low` to `high`. */
  narrow(held: H, k: number, low: number, high: number): Narrowed;
  /** `limit` is a number of the column's type. */
  rank(held: H, limit: number): { below: number; equal: number };
  sort(values: Column): void;
  /** The values in order, as `sort` puts them; spends `held`, and is valid until the next call of anything. */
  sorted(held: H): Column;
  /** Copies the pairs with first <= t <= last, in order, whatever the order of times. */
  trim(times: BigInt64Array, values: Column, first: bigint, last: bigint): { times: BigInt64Array; values: Column };
}
