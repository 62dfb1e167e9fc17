import type { BucketName } from "./buckets.ts";

/** What a table of counts is made for. */
export interface CounterShape<Dimension extends string = string> {
  readonly name: string;
  readonly dimensions: readonly Dimension[];
  /** How many of the dimensions, the last ones, were added later; default 0. */
  readonly added?: number;
  readonly buckets: readonly BucketName[];
}

/** How many events of these values there are in the bucket that starts at `startMs`, ms since 1970. */
export interface CountRow<Dimension extends string = string> {
  readonly bucket: BucketName;
  readonly startMs: number;
  /** One string for each dimension, by its name. */
  readonly values: Readonly<Record<Dimension, string>>;
  readonly count: bigint;
}

export interface RowsQuery<Dimension extends string = string> {
  readonly bucket: BucketName;
  /** Buckets that start in this half-open interval, ms since 1970; default: all. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Only rows with these values. */
  readonly values?: Readonly<Partial<Record<Dimension, string>>> | undefined;
}

/** The last generation of a shard that the table has, and all events that came into it from there. */
export interface LedgerRow {
  readonly shard: number;
  readonly generation: number;
  readonly nonce: string;
  readonly fence: number;
  readonly events: bigint;
  /** What is wrong with the row, where it cannot be read; its numbers are then 0. */
  readonly damaged?: string;
}

/** Where counts are drained to, as a reader sees it: ledger and rows of one moment. */
export interface CountTable {
  read<Dimension extends string>(
    shape: CounterShape<Dimension>,
    query: RowsQuery<Dimension>,
  ): Promise<{ readonly ledger: readonly LedgerRow[]; readonly rows: readonly CountRow<Dimension>[] }>;
}
