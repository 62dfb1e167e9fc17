import { argumentError, signalOf, wholeNumber } from "../base/errors.ts";
import type { Schema } from "../base/options.ts";
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
export const MAX_MS = 2 ** 31 - 1;
/** Of a shorter lease, the margins for drift and rounding would leave almost nothing. */
export const MIN_LEASE_MS = 10;

export const WATCHDOG_LEASE = [durationMs, 30_000, MIN_LEASE_MS, MAX_MS] as const;
export const REPLICAS = [wholeNumber, 0, 0, MAX_REPLICAS] as const;
/** Options of a constructor over several servers, or over several locks. */
export const WATCHDOG = { watchdogLease: WATCHDOG_LEASE };
export const LOCK = {
  watchdogLease: WATCHDOG_LEASE,
  replicas: REPLICAS,
} as const satisfies Schema<LockOptions>;
export const SIGNAL = [signalOf] as const;
export const LEASE = [durationMs, null, MIN_LEASE_MS, MAX_MS] as const;
export const TRY_LOCK = {
  wait: [durationMs, null, 0, MAX_MS],
  lease: LEASE,
  signal: SIGNAL,
} as const satisfies Schema<TryLockOptions>;
export const FORCE_RELEASE = { fence: [fenceOf] } as const satisfies Schema<ForceReleaseOptions>;

export function leaseMsOf(lease: Duration): number {
  return durationMs("lease", lease, MIN_LEASE_MS, MAX_MS);
}

function fenceOf(argument: string, fence: number | undefined): number | undefined {
  if (fence !== undefined && !(Number.isSafeInteger(fence) && fence > 0))
    throw argumentError(argument, fence, "a fence, which is an integer from 1 to 2^53 - 1");
  return fence;
}
