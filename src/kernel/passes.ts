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
  /** How many are at or below `low`, and a copy of those strictly between. */
  collect(held: H, low: number, high: number): { atMost: number; inside: Column };
  /** `limit` is a number of the column's type. */
  rank(held: H, limit: number): { below: number; equal: number };
  sort(values: Column): void;
  /** Copies the pairs with first <= t <= last, in order, whatever the order of times. */
  trim(times: BigInt64Array, values: Column, first: bigint, last: bigint): { times: BigInt64Array; values: Column };
}
