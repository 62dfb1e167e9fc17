import { argumentError, OrielError, wholeNumber } from "../../base/errors.ts";
import { type Announced, type Schema, type SettingsOf, settingsOf } from "../../base/options.ts";
import { type Site, siteOf } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import type { Store } from "../../store/contract.ts";
import { register } from "../../store/registry/register.ts";
import { HeldLock, StoreHold } from "../held.ts";
import { type HoldRequest, whileHeld } from "../lock-calls.ts";
import { LEASE, MAX_MS, REPLICAS, SIGNAL, WATCHDOG_LEASE } from "../lock-options.ts";
import { look } from "../steps/steps.ts";
import { takeHold } from "../waiters.ts";

/** More would make one step long, during which Redis serves no one else. */
const MAX_PERMITS = 1000;
const MAX_LIMIT = 1_000_000;

/** Options of `Semaphore` and `MultiSemaphore`. */
export interface SemaphoreOptions {
  /** The number of permits, 1 to 1 000 000. A process with a lower limit only waits longer. */
  limit: number;
  /** Lease of a permit that is acquired without one. A watchdog renews it after every third of it. Default "30s". */
  watchdogLease?: Duration | undefined;
  /** As in `LockOptions`. Default 0. */
  replicas?: number | undefined;
}

/** Options of `tryAcquire` of a semaphore. */
export interface TryPermitOptions {
  /** Longest time of the hold, 10 to 2147483647 ms. Default: a watchdog renews it until it is released. */
  lease?: Duration | undefined;
  /** Ends the wait. The call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `acquire` of a semaphore, which waits for permits. */
export interface PermitOptions extends TryPermitOptions {
  /** How long to wait, at most 2147483647 ms. Default 10 s. */
  wait?: Duration | undefined;
}

/** A hold of one or more permits of a semaphore. Its `fence` is null, because several holders work at once. */
export type Permit = HeldLock<null>;

const LIMIT = [wholeNumber, undefined, 1, MAX_LIMIT] as const;
/** Options of a constructor over several servers. */
export const QUORUM_SEMAPHORE = { limit: LIMIT, watchdogLease: WATCHDOG_LEASE };
export const SEMAPHORE = {
  limit: LIMIT,
  watchdogLease: WATCHDOG_LEASE,
  replicas: REPLICAS,
} satisfies Schema<SemaphoreOptions>;
const TRY_PERMIT = { lease: LEASE, signal: SIGNAL } satisfies Schema<TryPermitOptions>;
const PERMIT = {
  wait: [durationMs, 10_000, 0, MAX_MS],
  lease: LEASE,
  signal: SIGNAL,
} as const satisfies Schema<PermitOptions>;

/** The calls of a semaphore, around its own way to get a hold. */
export class PermitCalls {
  readonly limit: number;
  readonly #at: Site;
  readonly #watchdogLeaseMs: number;
  readonly #hold: (permits: number, request: HoldRequest, what: string) => Promise<Permit | null>;

  /** `hold` gets the name of the hold in messages. */
  constructor(
    at: Site,
    { limit, watchdogLeaseMs }: SettingsOf<typeof QUORUM_SEMAPHORE>,
    hold: (permits: number, request: HoldRequest, what: string) => Promise<Permit | null>,
  ) {
    this.limit = limit;
    this.#at = at;
    this.#watchdogLeaseMs = watchdogLeaseMs;
    this.#hold = hold;
  }

  /** The calls of `instance`, a semaphore on one store. Throws ARGUMENT. */
  static on(
    store: Store,
    structure: "Semaphore" | "MultiSemaphore",
    name: string,
    instance: object,
    options: SemaphoreOptions,
  ): PermitCalls {
    const at = siteOf(structure, store, name);
    const settings = at.checked(undefined, () => settingsOf(SEMAPHORE, options));
    const { limit, replicas } = settings;
    const shared: Announced<typeof SEMAPHORE, "watchdogLease" | "replicas"> = { limit };
    register(store, structure, name, instance, shared);
    const key = semaphoreKeyOf(store, name);
    return new PermitCalls(at, settings, async (permits, { isWatched, leaseMs, waitMs, signal }, what) => {
      const grant = await takeHold(store, key, { permits, limit, leaseMs, waitMs, signal, replicas });
      return grant && new HeldLock(new StoreHold(grant, null, what), isWatched, at);
    });
  }

  tryAcquire(permits: number, options: TryPermitOptions): Promise<Permit | null> {
    return this.#at.run("tryAcquire", () => this.#permit(permits, { ...settingsOf(TRY_PERMIT, options), waitMs: 0 }));
  }

  acquire(permits: number, options: PermitOptions): Promise<Permit> {
    return this.#at.run("acquire", () => this.#acquire(permits, options));
  }

  async with<T>(
    operation: string,
    permits: number,
    fn: (permit: Permit) => T | Promise<T>,
    options: PermitOptions,
  ): Promise<T> {
    const permit = await this.#at.run(operation, () => {
      if (typeof fn !== "function") throw argumentError("fn", fn, "a function");
      return this.#acquire(permits, options);
    });
    return whileHeld(permit, fn, this.#at, operation);
  }

  async #acquire(permits: number, options: PermitOptions): Promise<Permit> {
    const settings = settingsOf(PERMIT, options);
    const permit = await this.#permit(permits, settings);
    if (permit) return permit;
    const free = permits === 1 ? "no permit was" : `no ${permits} permits were`;
    const text = `${free} free within ${settings.waitMs} ms (limit ${this.limit})`;
    throw new OrielError("DEADLINE", text, { transient: true, applied: "no" });
  }

  async #permit(permits: number, settings: SettingsOf<typeof PERMIT>): Promise<Permit | null> {
    wholeNumber("permits", permits, 1, MAX_PERMITS);
    // It could never be acquired.
    if (permits > this.limit) throw argumentError("permits", permits, `at most the limit, ${this.limit}`);
    const { waitMs, leaseMs, signal } = settings;
    signal?.throwIfAborted();
    const what = `the hold of ${permits} of ${this.limit} permits`;
    const request = { leaseMs: leaseMs ?? this.#watchdogLeaseMs, waitMs, signal, isWatched: leaseMs === null };
    return this.#hold(permits, request, what);
  }
}

const MAX_LISTED_PERMITS = 1000;

/** The permits that are in use at one moment. */
export interface PermitsInUse {
  /** Number of permits in use. */
  count: number;
  /** The holds that end first, with up to 1000 permits together. A hold may have several permits. */
  holds: readonly { permits: number; leftMs: number }[];
}

/** The key of the state of a `Semaphore` or `MultiSemaphore`. */
export function semaphoreKeyOf(store: Store, name: string): string {
  return `${store.keyOf(name)}:semaphore`;
}

/** Reads the permits of a `Semaphore` or `MultiSemaphore` that are in use. */
export function permitsInUse(store: Store, name: string): Promise<PermitsInUse> {
  const read = async () => {
    const state = await store.run(look, semaphoreKeyOf(store, name), undefined);
    const held = state.holds
      .filter(({ endMs }) => endMs >= state.nowMs)
      .map(({ permits, endMs }) => ({ permits, leftMs: endMs - state.nowMs }));
    return { count: held.reduce((sum, { permits }) => sum + permits, 0), holds: first(held) };
  };
  return siteOf("Semaphore", store, name).run("permits", read, "no");
}

/** The holds that end first. */
function first(all: PermitsInUse["holds"]): PermitsInUse["holds"] {
  let listed = 0;
  return [...all]
    .sort((a, b) => a.leftMs - b.leftMs)
    .map(({ permits, leftMs }) => {
      const shown = Math.min(permits, MAX_LISTED_PERMITS - listed);
      listed += shown;
      return { permits: shown, leftMs };
    })
    .filter(({ permits }) => permits > 0);
}
