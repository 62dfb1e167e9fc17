import type { BucketName } from "./buckets.ts";

/** What a table of counts is made for. */
export interface CounterShape {
  readonly name: string;
  readonly dimensions: readonly string[];
  readonly buckets: readonly BucketName[];
}

/** So many events of these values, in the order of the dimensions, in the bucket that starts then. */
export interface CountRow {
  readonly bucket: BucketName;
  readonly startMs: number;
  readonly values: readonly string[];
  readonly count: bigint;
}

export interface RowsQuery {
  readonly bucket: BucketName;
  /** Buckets that start in this half-open interval, ms since 1970; default: all. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Only rows with these values. */
  readonly values?: Readonly<Record<string, string>> | undefined;
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
  read(shape: CounterShape, query: RowsQuery): Promise<{ ledger: LedgerRow[]; rows: CountRow[] }>;
}
