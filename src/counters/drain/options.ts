import { ofThisCopy } from "../../base/copies.ts";
import { argumentError, wholeNumber } from "../../base/errors.ts";
import type { Announced, Schema, SettingsOf } from "../../base/options.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { type AnyLock, anyLock, type LibraryMutex } from "../../holds/lock/any-lock.ts";
import { Counters } from "../counter/counters.ts";
import { replicasOf } from "../counter/options.ts";
import type { Sink } from "./sql/sink.ts";

/** Options of `DrainService`. */
export interface DrainOptions {
  counters: Counters;
  sink: Sink;
  /**
   * Elects the process that drains: a `Lock`, a `QuorumLock`, or a `Mutex` of redis-semaphore. Without a lock all started
   * processes drain, which is correct but wasteful.
   */
  lock?: AnyLock | LibraryMutex | undefined;
  /** Time between the starts of two cycles. Default 10 s. */
  every?: Duration | undefined;
  /** After this time a cycle cancels its unfinished shards. Default 30 s. */
  cycleTimeout?: Duration | undefined;
  /** Time limit of one transaction. Default 10 s. */
  sqlTimeout?: Duration | undefined;
  /** Maximum concurrent transactions. Default 4. */
  concurrency?: number | undefined;
  /**
   * Replicas that must have a generation before it is written to the table. With 1 or more a failover changes no total.
   * Default 0.
   */
  replicas?: number | undefined;
}

const MAX_MS = 2 ** 31 - 1;

export const DRAIN = {
  counters: [countersOf],
  sink: [sinkOf],
  lock: [(_: string, lock: DrainOptions["lock"]) => (lock === undefined ? undefined : anyLock(lock))],
  every: [durationMs, 10_000, 1, MAX_MS],
  cycleTimeout: [durationMs, 30_000, 1, MAX_MS],
  sqlTimeout: [durationMs, 10_000, 1, MAX_MS],
  concurrency: [wholeNumber, 4, 1, 1024],
  replicas: [replicasOf, 0],
} as const satisfies Schema<DrainOptions>;

type Unannounced = "counters" | "sink" | "lock" | "cycleTimeout" | "sqlTimeout" | "concurrency" | "replicas";
export type AnnouncedDrain = Announced<typeof DRAIN, Unannounced>;
export type DrainSettings = SettingsOf<typeof DRAIN>;

function countersOf(argument: string, counters: Counters): Counters {
  if (!(counters instanceof Counters))
    throw argumentError(argument, counters, ofThisCopy("Counters", counters, "Counters"));
  return counters;
}

function sinkOf(argument: string, sink: Sink): Sink {
  if (typeof sink?.apply !== "function") throw argumentError(argument, sink, "a sink of oriel/sql");
  return sink;
}
