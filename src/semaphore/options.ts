import { argumentError, wholeNumber } from "../errors.ts";
import { checkOptions, leaseMsOf, replicasOf } from "../hold/lock-options.ts";
import type { Duration } from "../time.ts";

/** More would make one step long, during which Redis serves no one else. */
const MAX_PERMITS = 1000;
const MAX_LIMIT = 1_000_000;
/** Several servers read the numbers of all permits in use. */
const MAX_LIMIT_OF_SERVERS = 1000;

/** Options of `Semaphore` and `MultiSemaphore`. */
export interface SemaphoreOptions {
  /** The number of permits, 1 to 1 000 000; on several servers at most 1000. A process with a lower limit only waits longer. */
  limit: number;
  /** Lease of a permit that is acquired without one. A watchdog renews it after every third of it. Default "30s". */
  watchdogLease?: Duration | undefined;
  /** As in `LockOptions`; on one server only. Default 0. */
  replicas?: number | undefined;
}

export function semaphoreSettings(
  options: SemaphoreOptions,
  servers: number,
): { limit: number; watchdogLeaseMs: number; replicas: number } {
  checkOptions(options, servers === 1 ? ["limit", "watchdogLease", "replicas"] : ["limit", "watchdogLease"]);
  const { limit, watchdogLease = "30s", replicas = 0 } = options;
  return {
    limit: wholeNumber("limit", limit, 1, servers === 1 ? MAX_LIMIT : MAX_LIMIT_OF_SERVERS),
    watchdogLeaseMs: leaseMsOf("watchdogLease", watchdogLease),
    replicas: replicasOf(replicas),
  };
}

/** Throws ARGUMENT for a wrong number, and for one above the limit, which could never be acquired. */
export function permitsOf(permits: number, limit: number): number {
  wholeNumber("permits", permits, 1, MAX_PERMITS);
  if (permits > limit) throw argumentError("permits", permits, `at most the limit, ${limit}`);
  return permits;
}
