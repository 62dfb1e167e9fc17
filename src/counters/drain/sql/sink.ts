import type { BucketName } from "../../../base/calendar.ts";
import type { CounterRow, CounterShape, LedgerRow, RowsQuery } from "../../counter/table.ts";

/** A count that a drain adds to a row. Values are in the order of the dimensions. */
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
  /** The increase of the ledger's total: the sum of the counts of one kind of bucket. */
  readonly events: bigint;
  readonly rows: readonly DrainRow[];
}

/**
 * "applied": written by this call. "already-applied": the tables had this generation with the same nonce. "superseded":
 * a process with a higher fence has written. "behind": the ledger has another generation. Without a row that is
 * generation 0 with an empty nonce.
 */
export type ApplyResult =
  | { readonly status: "applied" }
  | { readonly status: "already-applied" }
  | { readonly status: "superseded"; readonly fence: number }
  | { readonly status: "behind"; readonly generation: number; readonly nonce: string };

/** The bounds of one call of a sink. Authors of sinks receive it. */
export interface SinkCallOptions {
  /** From the call to its answer, including the wait for a connection. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Ends the call at once. Its connection is destroyed, and the server rolls back an uncommitted transaction. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The target of a drain: a table of counts and a ledger in one database.
 *
 * A failed call rejects with an OrielError. `transient`: the same call may succeed later. `applied` is "unknown" only
 * if COMMIT was sent and not answered. Then send the same batch again; the answer is "already-applied" or "applied".
 */
export interface Sink {
  /** The statements that create the two tables if they are missing, for schemas that are maintained by hand. */
  ddl(shape: CounterShape): string[];
  createTables(shape: CounterShape, limits?: SinkCallOptions): Promise<void>;
  /** One transaction: advances the ledger, then adds all rows. Writes nothing unless the answer is "applied". */
  apply(shape: CounterShape, batch: DrainBatch, limits?: SinkCallOptions): Promise<ApplyResult>;
  /** The counter's ledger, by shard. */
  ledger(shape: CounterShape, limits?: SinkCallOptions): Promise<LedgerRow[]>;
  /** Ledger and rows at one instant. Rows are ordered by start, then values. */
  read<Dimension extends string>(
    shape: CounterShape<Dimension>,
    query: RowsQuery<Dimension>,
    limits?: SinkCallOptions,
  ): Promise<{ ledger: LedgerRow[]; rows: CounterRow<Dimension, bigint>[] }>;
}
