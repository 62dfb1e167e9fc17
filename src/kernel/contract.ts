/** A column of values as kernels see it. Bytes from outside are turned into one by `column`. */
export type Column = Float32Array | Float64Array;

export type KernelName = "wasm-simd" | "wasm-scalar" | "js";

/**
 * What one pass over a column leaves for later folding. Sums and moments are over the finite values only;
 * NaN and infinities are counted apart, so that one that has left the window leaves no trace.
 */
export interface Summary {
  /** All values: finite, infinite, NaN. */
  count: number;
  nanCount: number;
  positiveInfinityCount: number;
  negativeInfinityCount: number;
  /** Double-double sum of the finite values: sumHigh + sumLow. */
  sumHigh: number;
  sumLow: number;
  /** Sum of squared distances of the finite values from their own mean. */
  m2: number;
  /** Smallest and largest of all but NaN, infinities included; -0 counts below +0. +Infinity and -Infinity when there are none. */
  min: number;
  max: number;
}

/** Which of the values are meant: those from `begin` to before `end` whose time t has first <= t <= last. */
export interface Source {
  /** Little-endian i64 ms, at any address; null: all times are inside. */
  times: Uint8Array | null;
  /** Little-endian f32, or f64 when `wide`, at any address. */
  values: Uint8Array;
  wide: boolean;
  begin: number;
  end: number;
  first: bigint;
  last: bigint;
}

/** What one walk over a source leaves. */
export interface Streamed {
  summary: Summary;
  /** For each share wanted the values at its rank and the next, among the numbers; null where the walk could not tell. */
  pairs: ([number, number] | null)[];
}

/** Times in ms. */
export type Times = Float64Array | BigInt64Array;

/** Windows that end at events, one after the other: t > own time - span, or t >= when `both`. */
export interface Windows {
  times: Times;
  spanMs: number;
  both: boolean;
}

/** How far a scan of windows has come: the first event of the last one, the least and greatest count of events in one. */
export interface Scan {
  start: number;
  fewest: number;
  most: number;
}

/** A run of events of a rolling statistic; see assembly/rolling/rolling.ts for the law. */
export interface Piece {
  /** From the first event of the first window on; the last of them are answered, as many as there are starts. */
  values: Column;
  /** The index of the first value, as starts count. */
  base: number;
  starts: Uint32Array;
  /** The count to which the first row of the tables belongs. */
  least: number;
}

/** Of each count of values, from the piece's least on: the rank below a percentile, and how much of the next value. */
export interface OrderTable {
  lower: Uint32Array;
  weight: Float64Array;
}

/**
 * One computation in one form. The three forms answer bit for bit the same: every sum is defined by its order
 * (see assembly/README.md), so the forms can replace each other in the middle of a series.
 * No call changes its input, but `sort`.
 */
export interface Kernel {
  readonly name: KernelName;
  /** Everything that folds, one column: see assembly/sums/fold.ts. */
  summary(values: Column): Summary;
  /** NumPy's pairwise sum in the column's own precision (f32 sums round to f32 at each step). */
  pairwiseSum(values: Column): number;
  /** NumPy's sum of squared differences from `mean`, pairwise, in the column's own precision. */
  pairwiseSquares(values: Column, mean: number): number;
  /** Ascending in place: -0 before +0, NaN last. */
  sort(values: Column): void;
  /** The k-th smallest (0-based, NaN excluded by the caller) and its successor (k + 1, or the same at the end). */
  select(values: Column, k: number): [number, number];
  /** `select` for each rank, from one copy of the column; null when there is a NaN in it. */
  selectMany(values: Column, ranks: readonly number[]): [number, number][] | null;
  /**
   * Summary, and the order statistics at `ranksOf(count of numbers)`, near `shares` (0 to 1), of the values inside: one
   * walk over the source, nothing of its length copied. Null where a copy (`gather`) is the better way.
   */
  streamed(source: Source, shares: readonly number[], ranksOf: (numbers: number) => readonly number[]): Streamed | null;
  /** A copy of the values inside, in order. */
  gather(source: Source): Column;
  /**
   * Writes the first event of the windows that end at events `from` to before `to`, which follow those scanned before.
   * Answers the first event whose time is below that before it or not finite, or `to`. i64 times spread over at most
   * 2^53 ms up to there; beyond it starts are of no use.
   */
  starts(windows: Windows, from: number, to: number, scan: Scan, out: Uint32Array): number;
  /** Percentiles of the windows that end in a piece: one answer for each start and table, into the columns of `out`. */
  roll(piece: Piece, tables: readonly OrderTable[], out: readonly Float64Array[]): void;
  /** How many values are below `limit`, and how many equal it. */
  rank(values: Column, limit: number): { below: number; equal: number };
  /**
   * Copies what is inside (`from` < t <= `to`, or `from` <= t when `both`), in order. Times are i64 ms.
   * `sorted`: times never fall, both ends are found by binary search.
   */
  trim(
    times: BigInt64Array,
    values: Column,
    from: bigint,
    to: bigint,
    both: boolean,
    sorted: boolean,
  ): { times: BigInt64Array; values: Column };
}
