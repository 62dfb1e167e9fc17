/** A column of values, the input of every kernel. `columnOf` turns raw bytes into one. */
export type Column = Float32Array | Float64Array;

/** The form of the kernels in use: WebAssembly with SIMD, WebAssembly without, or JavaScript. */
export type KernelName = "wasm-simd" | "wasm-scalar" | "js";

/**
 * The result of one pass over a column; summaries can be merged later. Sums and moments cover the finite values only.
 * NaN and infinities are counted apart, so they have no effect once they have left the window.
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
  /**
   * Smallest and largest value, infinities included, NaN excluded; -0 is below +0.
   * Without such a value: `min` is +Infinity and `max` is -Infinity.
   */
  min: number;
  max: number;
}

/**
 * A selection of events: those with an index from `begin` (included) to `end` (excluded), and a time t with
 * first <= t <= last.
 */
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

/** The result of one pass over a source. */
export interface Streamed {
  summary: Summary;
  /**
   * For each requested share, the values at its rank and at the next rank, NaN excluded.
   * Null if the pass could not determine them.
   */
  pairs: ([number, number] | null)[];
}

/** Times in ms. */
export type Times = Float64Array | BigInt64Array;

/**
 * One window for each event, which ends at that event. It contains times t > (the event's time - span);
 * with `both`, t >= (the event's time - span).
 */
export interface Windows {
  times: Times;
  spanMs: number;
  both: boolean;
}

/** State of a scan over windows: the last window's first event, and the smallest and largest event count so far. */
export interface Scan {
  start: number;
  fewest: number;
  most: number;
}

/** A run of events of a rolling statistic. assembly/rolling/rolling.ts states the law. */
export interface Piece {
  /** The events from the start of the first window. One window ends at each of the last `starts.length` events. */
  values: Column;
  /** Index of the first value, on the scale of `starts`. */
  base: number;
  starts: Uint32Array;
  /** The event count that row 0 of each table stands for. */
  minCount: number;
}

/**
 * One row for each event count, from the piece's `minCount` upward: the rank below the percentile, and the weight of the
 * next value in the interpolation.
 */
export interface RankTable {
  lower: Uint32Array;
  weight: Float64Array;
}

/**
 * Wavelet matrices over f32 values, in a memory of their own. The caller lays out the memory; addresses are in bytes, and
 * multiples of 16. assembly/wavelet/ states the form of a piece and of the ranges.
 */
export interface Wavelet {
  /** The first address that the caller may use. */
  readonly start: number;
  /** The memory, from address 0. `reserve` may replace it. */
  readonly words: Uint32Array;
  /** Makes all bytes below `end` usable. Throws TOO_LARGE if there is no memory. */
  reserve(end: number): void;
  /** Replaces values by keys, whose order is that of the values, NaN last. Returns the bits in which they differ. */
  keys(from: number, count: number): number;
  /** Writes one level of a piece, which begins with four words, and reorders the keys for the level below. The highest level comes first. */
  level(piece: number, level: number, keys: number, scratch: number): void;
  /** Finds the keys at ascending ranks, at least one, among ranges of pieces and loose keys. Writes them to `out`, and reorders the loose keys. */
  select(
    ranges: number,
    count: number,
    loose: number,
    looseCount: number,
    ranks: number,
    rankCount: number,
    out: number,
    room: number,
  ): void;
}

/**
 * The numeric loops in one of three forms. All forms give the same bits, because the order of every addition is fixed
 * (see assembly/README.md). One form can therefore replace another in the middle of a series.
 * Only `sort` changes its input.
 */
export interface Kernel {
  readonly name: KernelName;
  /** Summary of one column; see assembly/sums/fold.ts. */
  summary(values: Column): Summary;
  /** NumPy's pairwise sum in the column's own precision (f32 sums round to f32 at each step). */
  pairwiseSum(values: Column): number;
  /** NumPy's sum of squared differences from `mean`, pairwise, in the column's own precision. */
  pairwiseSquares(values: Column, mean: number): number;
  /** Sorts in place, ascending: -0 before +0, NaN last. */
  sort(values: Column): void;
  /** The k-th smallest value (0-based) and the next one (the same at the end). The caller has excluded NaN. */
  select(values: Column, k: number): [number, number];
  /** `select` for each rank, from one copy of the column; null if the column contains NaN. */
  selectMany(values: Column, ranks: readonly number[]): [number, number][] | null;
  /**
   * Summary and order statistics of the values inside, in one pass and without a copy as long as the source.
   * The ranks are `ranksOf(count of numbers)`; they lie near `shares` (0 to 1).
   * Null if a copy (`gather`) is the better way.
   */
  streamed(source: Source, shares: readonly number[], ranksOf: (numbers: number) => readonly number[]): Streamed | null;
  /** A copy of the values inside, in order. */
  gather(source: Source): Column;
  /**
   * Writes to `out` the index of the first event of each window that ends at an event from `from` to before `to`.
   * `from` must follow the events scanned before. Returns the first event whose time is not finite or is lower than the
   * time before it; `to` if there is none. The starts are valid while i64 times span at most 2^53 ms.
   */
  starts(windows: Windows, from: number, to: number, scan: Scan, out: Uint32Array): number;
  /** Writes the percentiles of the windows that end in a piece: one column of `out` per table, one value per start. */
  roll(piece: Piece, tables: readonly RankTable[], out: readonly Float64Array[]): void;
  /** How many values are below `limit`, and how many equal it. */
  rank(values: Column, limit: number): { below: number; equal: number };
  /**
   * Copies the events inside (`from` < t <= `to`; with `both`, `from` <= t <= `to`), in order. Times are i64 ms.
   * `sorted`: the times never decrease, so both ends are found by binary search.
   */
  trim(
    times: BigInt64Array,
    values: Column,
    from: bigint,
    to: bigint,
    both: boolean,
    sorted: boolean,
  ): { times: BigInt64Array; values: Column };
  /** An empty memory for wavelet matrices. */
  wavelet(): Wavelet;
}

/** The part of a kernel that sorted runs need. In a Worker, `Series` has a module with nothing else. */
export type RunKernel = Pick<Kernel, "name" | "summary" | "sort">;
