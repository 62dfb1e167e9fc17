import { argumentError, byteBound, needlessArgument } from "../../base/errors.ts";
import { type Announced, oneOf, type Schema, type SettingsOf, settingsOf } from "../../base/options.ts";
import { type Closed, type Duration, durationMs } from "../../base/time.ts";
import { type AnyLock, anyLock, type LibraryMutex } from "../../holds/lock/any-lock.ts";
import { MAX_MS, MIN_LEASE_MS } from "../../holds/lock-options.ts";

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

const BUILT_IN = ["count", "sum", "average", "p99"];
const MAX_SPAN_MS = 365 * 86_400_000;

export const LOCKED_WINDOW = {
  span: [durationMs, undefined, 1, MAX_SPAN_MS],
  closed: [oneOf, "both", "both", "right"],
  /** Undefined: the window's own. */
  lock: [(_: string, lock: LockedWindowOptions["lock"]) => (lock === undefined ? undefined : anyLock(lock))],
  wait: [durationMs, 10_000, 0, MAX_MS],
  lease: [durationMs, 60_000, MIN_LEASE_MS, MAX_MS],
  maxBytes: [byteBound, 64 << 20],
  statistics: [statisticsOf, {}],
} as const satisfies Schema<LockedWindowOptions<Statistics>>;
/** All processes must share them. */
export type AnnouncedWindow = Announced<typeof LOCKED_WINDOW, "lock" | "wait" | "lease" | "maxBytes" | "statistics">;

export type LockedWindowSettings = SettingsOf<typeof LOCKED_WINDOW>;

export function lockedSettings(options: LockedWindowOptions<Statistics>): LockedWindowSettings {
  const settings = settingsOf(LOCKED_WINDOW, options);
  const isMutex = options.lock !== undefined && !("tryLock" in options.lock);
  for (const name of ["wait", "lease"] as const)
    if (isMutex && options[name] !== undefined)
      throw needlessArgument(name, options[name], "a mutex of redis-semaphore has its own options");
  return settings;
}

function statisticsOf(argument: string, statistics: Statistics): Statistics {
  if (statistics === null || typeof statistics !== "object")
    throw argumentError(argument, statistics, "an object of functions");
  for (const [name, statistic] of Object.entries(statistics)) {
    if (typeof statistic !== "function") throw argumentError(`${argument}.${name}`, statistic, "a function");
    if (BUILT_IN.includes(name)) throw argumentError(argument, name, `a name other than ${BUILT_IN.join(", ")}`);
  }
  return statistics;
}
