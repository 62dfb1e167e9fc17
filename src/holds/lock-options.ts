import { checkKnown, checkSignal, wholeNumber } from "../base/errors.ts";
import { type Duration, durationMs } from "../base/time.ts";

/** Options of `Lock`. */
export interface LockOptions {
  /** Lease of a lock that is acquired without one. A watchdog renews it after every third of it. Default "30s". */
  watchdogLease?: Duration | undefined;
  /**
   * Number of replicas that must have a hold before it is granted or renewed (WAIT), so that a failover to one of them keeps
   * it. If fewer confirm within the store's deadline, the call rejects, with `applied` "unknown". Default 0.
   */
  replicas?: number | undefined;
}

/** Options of `tryLock` and `withLock`: how long to wait, and how long to hold. */
export interface TryLockOptions {
  /** How long to wait for the lock, at most 2147483647 ms. Default 0, one attempt; `withLock`: 10 s. */
  wait?: Duration | undefined;
  /** Longest time of the hold, 10 to 2147483647 ms. Default: a watchdog renews it until it is released. */
  lease?: Duration | undefined;
  /** Ends the wait. The call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `Lock.forceRelease`. */
export interface ForceReleaseOptions {
  /** Releases only the hold with this fence, as `inspect` reports it. Default: any hold. */
  fence?: number | undefined;
}

const MAX_REPLICAS = 1000;
/** The longest delay of a runtime's timer. */
const MAX_MS = 2 ** 31 - 1;
/** Of a shorter lease, the margins for drift and rounding would leave almost nothing. */
const MIN_LEASE_MS = 10;

export function leaseMsOf(argument: string, lease: Duration): number {
  return durationMs(argument, lease, MIN_LEASE_MS, MAX_MS);
}

/** Throws ARGUMENT for a wrong or unknown option of a constructor. */
export function watchdogLeaseMsOf(options: Pick<LockOptions, "watchdogLease">): number {
  checkOptions(options, ["watchdogLease"]);
  return leaseMsOf("watchdogLease", options.watchdogLease ?? "30s");
}

/** Throws ARGUMENT for a wrong or unknown option of a constructor on one store. */
export function lockSettings(options: LockOptions): { watchdogLeaseMs: number; replicas: number } {
  checkOptions(options, ["watchdogLease", "replicas"]);
  const { watchdogLease, replicas = 0 } = options;
  return {
    watchdogLeaseMs: watchdogLeaseMsOf({ watchdogLease }),
    replicas: wholeNumber("replicas", replicas, 0, MAX_REPLICAS),
  };
}

export function waitMsOf(wait: Duration): number {
  return durationMs("wait", wait, 0, MAX_MS);
}

export function checkOptions(options: object, known: readonly string[]): void {
  checkKnown(options, known);
  const { signal } = options as TryLockOptions;
  checkSignal(signal);
}
