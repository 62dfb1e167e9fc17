import { ofThisCopy } from "../../base/copies.ts";
import { argumentError, checkKnown } from "../../base/errors.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { type AnyLock, anyLock, type LibraryMutex } from "../../holds/lock/any-lock.ts";
import { Counters } from "../counter/counters.ts";
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

export interface DrainSettings {
  everyMs: number;
  cycleTimeoutMs: number;
  sqlTimeoutMs: number;
  concurrency: number;
  replicas: number;
  lock: AnyLock | undefined;
}

const OPTIONS = ["counters", "sink", "lock", "every", "cycleTimeout", "sqlTimeout", "concurrency", "replicas"];
const MAX_MS = 2 ** 31 - 1;

export function drainSettings(options: DrainOptions): DrainSettings {
  checkKnown(options, OPTIONS);
  const { every = "10s", cycleTimeout = "30s", sqlTimeout = "10s", concurrency = 4, replicas = 0 } = options;
  if (!(options.counters instanceof Counters))
    throw argumentError("counters", options.counters, ofThisCopy("Counters", options.counters, "Counters"));
  if (typeof options.sink?.apply !== "function") throw argumentError("sink", options.sink, "a sink of oriel/sql");
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 1024)
    throw argumentError("concurrency", concurrency, "a whole number from 1 to 1024");
  if (!Number.isInteger(replicas) || replicas < 0)
    throw argumentError("replicas", replicas, "a whole number, 0 or more");
  return {
    everyMs: durationMs("every", every, 1, MAX_MS),
    cycleTimeoutMs: durationMs("cycleTimeout", cycleTimeout, 1, MAX_MS),
    sqlTimeoutMs: durationMs("sqlTimeout", sqlTimeout, 1, MAX_MS),
    concurrency,
    replicas,
    lock: options.lock === undefined ? undefined : anyLock(options.lock),
  };
}
