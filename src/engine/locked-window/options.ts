import { argumentError, byteBound, checkKnown, needlessArgument } from "../../base/errors.ts";
import { type Closed, type Duration, durationMs } from "../../base/time.ts";
import { type AnyLock, anyLock, type LibraryMutex } from "../../holds/lock/any-lock.ts";
import { leaseMsOf, waitMsOf } from "../../holds/lock-options.ts";

/** Custom statistics by name. A function is called with the events inside, in the order recorded, and must not change them. */
export type Statistics = Record<string, (values: Float32Array, times: BigInt64Array) => unknown>;

/** Options of `LockedWindow`. */
export interface LockedWindowOptions<S extends Statistics = Record<never, never>> {
  /** How far back the window reaches, 1 ms to 365 days. */
  span: Duration;
  /** "both" (default): now - span <= t. "right": now - span < t. */
  closed?: Closed | undefined;
  /**
   * The lock of all programs that share the window. Default: a `Lock` on the window's store and key. A mutex of
   * redis-semaphore has its own options for `wait` and `lease`.
   */
  lock?: AnyLock | LibraryMutex | undefined;
  /** How long a call waits for the lock; default "10s". */
  wait?: Duration | undefined;
  /** Longest time that one step holds the lock; default "60s". */
  lease?: Duration | undefined;
  /** Bound on the window's size in Redis, 12 bytes per event; default 64 MiB. A larger window gives TOO_LARGE. */
  maxBytes?: number | undefined;
  /** Custom statistics, returned with count, sum, average and p99. */
  statistics?: (S & Statistics) | undefined;
}

export interface LockedWindowSettings {
  spanMs: number;
  closed: Closed;
  waitMs: number;
  leaseMs: number;
  maxBytes: number;
  statistics: Statistics;
  /** Undefined: the window's own. */
  lock: AnyLock | undefined;
}

const OPTIONS = ["span", "closed", "lock", "wait", "lease", "maxBytes", "statistics"];
const BUILT_IN = ["count", "sum", "average", "p99"];
const MAX_SPAN_MS = 365 * 86_400_000;

export function lockedSettings(options: LockedWindowOptions<Statistics>): LockedWindowSettings {
  checkKnown(options, OPTIONS);
  const { closed = "both", statistics = {} } = options;
  if (closed !== "both" && closed !== "right") throw argumentError("closed", closed, '"both" or "right"');
  if (statistics === null || typeof statistics !== "object")
    throw argumentError("statistics", statistics, "an object of functions");
  for (const [name, statistic] of Object.entries(statistics)) {
    if (typeof statistic !== "function") throw argumentError(`statistics.${name}`, statistic, "a function");
    if (BUILT_IN.includes(name)) throw argumentError("statistics", name, `a name other than ${BUILT_IN.join(", ")}`);
  }
  const lock = options.lock === undefined ? undefined : anyLock(options.lock);
  const isMutex = options.lock !== undefined && !("tryLock" in options.lock);
  for (const name of ["wait", "lease"] as const)
    if (isMutex && options[name] !== undefined)
      throw needlessArgument(name, options[name], "a mutex of redis-semaphore has its own options");
  return {
    spanMs: durationMs("span", options.span, 1, MAX_SPAN_MS),
    closed,
    waitMs: waitMsOf(options.wait ?? "10s"),
    leaseMs: leaseMsOf("lease", options.lease ?? "60s"),
    maxBytes: byteBound("maxBytes", options.maxBytes ?? 64 << 20),
    statistics,
    lock,
  };
}
