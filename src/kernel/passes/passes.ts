import type { Column, KernelName, OrderTable, Piece, Scan, Source, Windows } from "../contract.ts";

/** What one pass leaves of a block of at most 4096 values; see assembly/sums/fold.ts for the law. */
export interface Block {
  count: number;
  /** Of the finite values, as a double-double; not finite where it left the range of f64. */
  sumHigh: number;
  sumLow: number;
  /** Sum of squared distances of the finite values from `about`. */
  squares: number;
  about: number;
  /** NaN skipped, infinities taken; the sign of a zero is not settled. */
  min: number;
  max: number;
  /** There where a value is not finite or an end is zero; where min < 0 < max, its zeros may be made up. */
  census: Census | undefined;
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
  /** Valid until the next call of `hold`, `sample` or `collect` from the same column, `sort` or `trim`. */
  inside: H;
}

/** A walk over the values inside a window, in order; valid until the next call of `hold`, `sort`, `trim` or `stream`. */
export interface Stream<H> {
  /** Empty, at first. */
  piles: H[];
  /** The next ones: whole blocks of 4096 values, but for the last piece; null at the end. */
  next(): { piece: H; count: number } | null;
}

/** A step of a radix selection: see assembly/selection/narrow.ts for the law. */
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
  /** Hands over the blocks in order; `about` is the answer of the call before, NaN at first: the mean of its last block. */
  fold(held: H, about: number, take: (block: Block) => void): number;
  census(held: H): Census;
  pairwiseSum(held: H): number;
  pairwiseSquares(held: H, mean: number): number;
  /** Those from `first` to `last`, numbers of the column's type. What was collected may be collected from. */
  collect(held: H, first: number, last: number): Collected<H>;
  /** `size` of them, drawn as `drawPlaces` places them, in order as `sort` puts them; valid until the next call of anything. */
  sample(held: H, size: number, seed: number): Column;
  /** `held` has no NaN, more than k values, and all of them from `low` to `high`. */
  narrow(held: H, k: number, low: number, high: number): Narrowed;
  /** `limit` is a number of the column's type. */
  rank(held: H, limit: number): { below: number; equal: number; above: number };
  sort(values: Column): void;
  /** The values in order, as `sort` puts them; spends `held`, and is valid until the next call of anything. */
  sorted(held: H): Column;
  /** The values inside, in pieces: see `Stream`. `capacity`: how many values each of `piles` may hold. */
  stream(source: Source, piles: number, capacity: number): Stream<H>;
  /** `collect` from a piece, behind what the pile holds; `inside` is the pile with what was added. */
  append(piece: H, first: number, last: number, pile: H): Collected<H>;
  /** The values themselves, valid until the next call of anything. */
  view(held: H): Column;
  /** As in `Kernel`. */
  starts(windows: Windows, from: number, to: number, scan: Scan, out: Uint32Array): number;
  /** One answer for each start and table, into the columns of `out`. */
  roll(piece: Piece, tables: readonly OrderTable[], out: readonly Float64Array[]): void;
  /** Copies the pairs with first <= t <= last, in order, whatever the order of times. */
  trim(times: BigInt64Array, values: Column, first: bigint, last: bigint): { times: BigInt64Array; values: Column };
}
