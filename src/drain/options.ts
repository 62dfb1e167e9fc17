import { Counters } from "../counter/counters.ts";
import { argumentError, checkKnown } from "../errors.ts";
import type { Lock } from "../lock/lock.ts";
import { type Duration, durationMs } from "../time.ts";
import type { Sink } from "./sql/sink.ts";

export interface DrainOptions {
  counters: Counters;
  sink: Sink;
  /** Elects the one process that drains. Without it whoever is started drains: right as well, but for nothing. */
  lock?: Lock;
  /** From the beginning of one cycle to that of the next; default "10s". */
  every?: Duration;
  /** After which a cycle gives up what is not done; default 30 s. */
  cycleTimeout?: Duration;
  /** For one transaction; default 10 s. */
  sqlTimeout?: Duration;
  /** Transactions at a time; default 4. */
  concurrency?: number;
  /** Replicas that must have a generation before it goes into the table; default 0. A failover then changes no total. */
  replicas?: number;
}

export interface DrainSettings {
  everyMs: number;
  cycleTimeoutMs: number;
  sqlTimeoutMs: number;
  concurrency: number;
  replicas: number;
}

const OPTIONS = ["counters", "sink", "lock", "every", "cycleTimeout", "sqlTimeout", "concurrency", "replicas"];
const MOST_MS = 2 ** 31 - 1;

export function drainSettings(options: DrainOptions): DrainSettings {
  checkKnown(options, OPTIONS);
  const { every = "10s", cycleTimeout = "30s", sqlTimeout = "10s", concurrency = 4, replicas = 0 } = options;
  if (!(options.counters instanceof Counters)) throw argumentError("counters", options.counters, "Counters");
  if (typeof options.sink?.apply !== "function") throw argumentError("sink", options.sink, "a sink of oriel/sql");
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 1024)
    throw argumentError("concurrency", concurrency, "a whole number from 1 to 1024");
  if (!Number.isInteger(replicas) || replicas < 0)
    throw argumentError("replicas", replicas, "a whole number, 0 or more");
  return {
    everyMs: durationMs("every", every, 1, MOST_MS),
    cycleTimeoutMs: durationMs("cycleTimeout", cycleTimeout, 1, MOST_MS),
    sqlTimeoutMs: durationMs("sqlTimeout", sqlTimeout, 1, MOST_MS),
    concurrency,
    replicas,
  };
}
