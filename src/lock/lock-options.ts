import { argumentError, checkKnown } from "../errors.ts";
import { type Duration, durationMs } from "../time.ts";

export interface LockOptions {
  /** Lease of a lock that is got without one; a watchdog renews it every third of it. Default "30s". */
  watchdogLease?: Duration | undefined;
}

export interface TryLockOptions {
  /** How long to wait for the lock, ms or "10s"; default 0 ms (`withLock`: 10 s): one look. At most 2147483647 ms. */
  wait?: Duration | undefined;
  /** How long it is held at most, from 10 ms to 2147483647 ms. Omitted: a watchdog renews it until it is released. */
  lease?: Duration | undefined;
  /** Ends the waiting; the call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** Timers of the runtime reach that far. */
const LONGEST_MS = 2 ** 31 - 1;
/** Below, what is taken off for drift and rounding would leave next to nothing. */
const SHORTEST_LEASE_MS = 10;

export function leaseMsOf(argument: string, lease: Duration): number {
  return durationMs(argument, lease, SHORTEST_LEASE_MS, LONGEST_MS);
}

export function waitMsOf(wait: Duration): number {
  return durationMs("wait", wait, 0, LONGEST_MS);
}

export function checkOptions(options: object, known: readonly string[]): void {
  checkKnown(options, known);
  const { signal } = options as TryLockOptions;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw argumentError("signal", signal, "an AbortSignal");
}
