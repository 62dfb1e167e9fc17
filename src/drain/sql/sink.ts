import type { BucketName } from "../../counter/buckets.ts";
import type { CounterRow } from "../../counter/row.ts";
import type { CounterShape, LedgerRow, RowsQuery } from "../../counter/table.ts";

/** What a drain adds to the row of these values, which are in the order of the dimensions. */
export interface DrainRow {
  readonly bucket: BucketName;
  /** Start of the bucket, ms since 1970. */
  readonly startMs: number;
  /** One string for each dimension, in their order. */
  readonly values: readonly string[];
  readonly count: bigint;
}

/** One frozen generation of one shard. */
export interface DrainBatch {
  readonly shard: number;
  readonly generation: number;
  readonly nonce: string;
  readonly fence: number;
  /** What the ledger's total grows by: the sum of the counts of one bucket. */
  readonly events: bigint;
  readonly rows: readonly DrainRow[];
}

/**
 * applied: now. already-applied: this generation (same nonce) is in the tables already. superseded: a higher fence wrote.
 * behind: the ledger stands elsewhere; a missing row is generation 0 with the nonce "".
 */
export type ApplyResult =
  | { readonly status: "applied" }
  | { readonly status: "already-applied" }
  | { readonly status: "superseded"; readonly fence: number }
  | { readonly status: "behind"; readonly generation: number; readonly nonce: string };

export interface SinkCallOptions {
  /** From the call to its answer, the wait for a connection included; default: no limit. */
  readonly timeoutMs?: number;
  /** Ends the call at once: its connection is destroyed, and the server rolls back what was not committed. */
  readonly signal?: AbortSignal;
}

/**
 * Where counters are drained to: a table of counts and a ledger in one database.
 *
 * A failing call rejects with an OrielError: `transient` says whether the same call may succeed later, `applied` is
 * "unknown" only where COMMIT was sent and not answered; the same batch again then answers "already-applied" or "applied".
 */
export interface Sink {
  /** The statements that make the two tables where they are missing, for who keeps a schema by hand. */
  ddl(shape: CounterShape): string[];
  createTables(shape: CounterShape, limits?: SinkCallOptions): Promise<void>;
  /** One transaction: the ledger's step, then all rows are added. Nothing is written unless it answers "applied". */
  apply(shape: CounterShape, batch: DrainBatch, limits?: SinkCallOptions): Promise<ApplyResult>;
  /** The counter's ledger, by shard. */
  ledger(shape: CounterShape, limits?: SinkCallOptions): Promise<LedgerRow[]>;
  /** Ledger and rows of one and the same instant; rows by start, then values. */
  read<Dimension extends string>(
    shape: CounterShape<Dimension>,
    query: RowsQuery<Dimension>,
    limits?: SinkCallOptions,
  ): Promise<{ ledger: LedgerRow[]; rows: CounterRow<Dimension, bigint>[] }>;
}
