import type { Column, KernelName, Piece, RankTable, Scan, Source, Wavelet, Windows } from "../contract.ts";

/** The statistics of a block of at most 4096 values, computed in one pass; see assembly/sums/fold.ts. */
export interface Block {
  count: number;
  /** Sum of the finite values, as a double-double. Not finite if it overflowed f64. */
  sumHigh: number;
  sumLow: number;
  /** Sum of squared distances of the finite values from `about`. */
  squares: number;
  about: number;
  /** Extremes without NaN, infinities included. The sign of a zero is undetermined. */
  min: number;
  max: number;
  /** Present if a value is not finite or an extreme is zero. If min < 0 < max, its counts of zeros may be wrong. */
  census: Census | undefined;
}

/** Exact counts of the values that arithmetic must treat separately. */
export interface Census {
  nan: number;
  positiveInfinity: number;
  negativeInfinity: number;
  negativeZero: number;
  positiveZero: number;
}

/** The values between two limits, in order, in memory that the kernel can read. */
export interface Collected<H> {
  /** Count of the values below the lower limit, and of NaN. */
  below: number;
  allNumbers: boolean;
  count: number;
  /** Valid until the next call of `hold`, `sample` or `collect` from the same column, `sort` or `trim`. */
  inside: H;
}

/** A walk over the values inside a window, in order; valid until the next call of `hold`, `sort`, `trim` or `stream`. */
export interface Stream<H> {
  /** Empty at first. `append` adds to them. */
  piles: H[];
  /** The next piece; null at the end. All pieces but the last consist of whole blocks of 4096 values. */
  next(): { piece: H; count: number } | null;
}

/** The result of one step of a radix selection; see assembly/selection/narrow.ts. */
export interface Narrowed {
  /** Count of the values below `first`; meaningless if `found`. */
  before: number;
  /** True if `first` and `last` are the values at ranks k and k + 1. Otherwise they are limits around both, included. */
  found: boolean;
  first: number;
  last: number;
}

/**
 * The loops over values, which each kernel implements. The algorithms above them are written once (`kernelOf`).
 * `H` is a column that the kernel can read: the column itself, or its address in WebAssembly memory. A held column is
 * valid until the next call of `hold`, `sort` or `trim`.
 */
export interface Passes<H> {
  readonly name: KernelName;
  hold(values: Column): H;
  /** Passes the blocks to `take`, in order. Returns the mean of the last block, which is `about` of the next call. */
  fold(held: H, about: number, take: (block: Block) => void): number;
  census(held: H): Census;
  pairwiseSum(held: H): number;
  pairwiseSquares(held: H, mean: number): number;
  /** Collects the values from `first` to `last`, both of the column's type. The result can be collected from again. */
  collect(held: H, first: number, last: number): Collected<H>;
  /** A sorted sample of `size` values, at the indexes of `sampleIndexes`. Valid until the next call. */
  sample(held: H, size: number, seed: number): Column;
  /** `held` must have more than k values, all from `low` to `high`, and no NaN. */
  narrow(held: H, k: number, low: number, high: number): Narrowed;
  /** Counts of the values below, equal to and above `limit`, which is of the column's type. */
  rank(held: H, limit: number): { below: number; equal: number; above: number };
  sort(values: Column): void;
  /** The sorted values, valid until the next call. `held` is no longer valid. */
  sorted(held: H): Column;
  /** The values inside the window, in pieces. `piles`: number of piles. `capacity`: maximum values in a pile. */
  stream(source: Source, piles: number, capacity: number): Stream<H>;
  /** Collects from a piece, and appends to a pile. `inside` is the pile with the added values. */
  append(piece: H, first: number, last: number, pile: H): Collected<H>;
  /** The values themselves, valid until the next call. */
  view(held: H): Column;
  /** As in `Kernel`. */
  starts(windows: Windows, from: number, to: number, scan: Scan, out: Uint32Array): number;
  /** One answer for each start and table, into the columns of `out`. */
  roll(piece: Piece, tables: readonly RankTable[], out: readonly Float64Array[]): void;
  /** Copies the pairs with first <= t <= last, in order. The times may be unsorted. */
  trim(times: BigInt64Array, values: Column, first: bigint, last: bigint): { times: BigInt64Array; values: Column };
  /** As in `Kernel`. */
  wavelet(): Wavelet;
}
