import type { Column } from "../../kernel/contract.ts";
import type { PendingQuery } from "../pending-query.ts";
import type { Recorded } from "../series-options.ts";
import type { Batch } from "./batch.ts";

/** Calls without an answer, because of `error`. */
export interface CommitFailure {
  error: unknown;
  batch: Batch | undefined;
  queries: readonly PendingQuery[];
}

/** One state of a series in this process: online (the store answers) or offline (this process answers). */
export interface Session {
  /** Takes in the batch and answers the queries. Never rejects; returns the calls that the store failed. */
  commit(batch: Batch | undefined, queries: readonly PendingQuery[]): Promise<CommitFailure | undefined>;
}

/** Writes buffered events with their own times. */
export interface EventWriter {
  write(values: Column, times: Float64Array): Promise<Recorded>;
}
