import type { BucketName } from "./buckets.ts";

/** The name, dimensions and buckets of a counter, for which a table is created. */
export interface CounterShape<Dimension extends string = string> {
  readonly name: string;
  readonly dimensions: readonly Dimension[];
  /** The number of added dimensions, which are the last ones. Default 0. */
  readonly added?: number;
  readonly buckets: readonly BucketName[];
}

/** The number of events with these values in the bucket that starts at `startMs`, ms since 1970. */
export interface CountRow<Dimension extends string = string> {
  readonly bucket: BucketName;
  readonly startMs: number;
  /** One string for each dimension, by its name. */
  readonly values: Readonly<Record<Dimension, string>>;
  readonly count: bigint;
}

/** The rows that a sink reads from its table. Authors of sinks receive it. */
export interface RowsQuery<Dimension extends string = string> {
  readonly bucket: BucketName;
  /** Only buckets that start in this half-open interval, ms since 1970. Default: all. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Only rows with these values. */
  readonly values?: Readonly<Partial<Record<Dimension, string>>> | undefined;
}

/** The last generation of a shard in the table, and the number of all events drained from that shard. */
export interface LedgerRow {
  readonly shard: number;
  readonly generation: number;
  readonly nonce: string;
  readonly fence: number;
  readonly events: bigint;
  /** Why the row cannot be read. Its numbers are then 0. */
  readonly damaged?: string;
}

/** The table for a reader: ledger and rows at one instant. */
export interface CountTable {
  read<Dimension extends string>(
    shape: CounterShape<Dimension>,
    query: RowsQuery<Dimension>,
  ): Promise<{ readonly ledger: readonly LedgerRow[]; readonly rows: readonly CountRow<Dimension>[] }>;
}
