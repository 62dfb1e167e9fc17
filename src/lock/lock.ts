import { argumentError } from "../errors.ts";
import { type Place, placeOf } from "../place.ts";
import type { Store } from "../store/contract.ts";
import type { Grant } from "./grant.ts";
import { HeldLock } from "./held.ts";
import { lockKeyOf } from "./keys.ts";
import { lineOf } from "./line.ts";
import { checkOptions, type LockOptions, leaseMsOf, type TryLockOptions, waitMsOf } from "./lock-options.ts";
import { type Ask, Waiter } from "./waiter.ts";

const TRY_OPTIONS = ["wait", "lease", "signal"];

/**
 * One holder at a time among all processes that share the store, for as long as leases are honest: a holder who was
 * paused may still act when its lease is over, and what Redis loses in a failover is free again. What must not be
 * overwritten therefore checks the hold's `fence`; the lock keeps the others from useless work.
 *
 * One round trip to get it, one to give it back. A release calls the process that has waited longest, and keeps the lock
 * 150 ms for it; where a lease runs out, the first that asks has it called. If it does not come (dead, stopped, not told),
 * it is passed over: the first of those that have asked meanwhile is next. Otherwise who waits sleeps until
 * the holder's lease is over, and asks once in some 4 s to keep its place; it polls, every 100 ms, only while a foreign
 * holder has the lock: redis-semaphore's `new Mutex(client, store.keyOf(name))` keeps the same key and value and excludes
 * ours, but tells nobody when it goes, nor does it wait its turn.
 * Within a process first come, first served; so are processes, each for up to 9 of its callers in a row. Whoever does
 * not wait is told null while the lock is kept for another.
 *
 * redis-semaphore itself is not used: it polls, has no fence, does not know its own hold after a lost reply and runs
 * only in Node. The operations in acquire, extend and release do all that in one step each, in every store.
 */
export class Lock {
  readonly name: string;
  readonly #at: Place;
  readonly #store: Store;
  readonly #key: string;
  readonly #watchdogLeaseMs: number;

  /** Throws ARGUMENT for a wrong name or option. Nothing is sent yet. */
  constructor(store: Store, name: string, options: LockOptions = {}) {
    this.#at = placeOf("Lock", store, name);
    this.name = name;
    this.#store = store;
    this.#key = lockKeyOf(store, name);
    this.#watchdogLeaseMs = this.#at.checked(undefined, () => {
      checkOptions(options, ["watchdogLease"]);
      return leaseMsOf("watchdogLease", options.watchdogLease ?? "30s");
    });
  }

  /**
   * The lock; or null where others held it, or were to, until `wait` was over. Rejects where the store still fails then
   * (failures that may pass are retried as long), and with the reason of `signal`. A request under way at the end of
   * `wait` is awaited: at most the store's deadline. A lease that may be over when the reply arrives is never handed out.
   */
  tryLock(options: TryLockOptions = {}): Promise<HeldLock | null> {
    return this.#at.run("tryLock", () => this.#lock(options));
  }

  async #lock(options: TryLockOptions): Promise<HeldLock | null> {
    checkOptions(options, TRY_OPTIONS);
    const { wait = 0, lease, signal } = options;
    const leaseMs = lease === undefined ? this.#watchdogLeaseMs : leaseMsOf("lease", lease);
    const waitMs = waitMsOf(wait);
    signal?.throwIfAborted();
    const grant = await this.#grant({ leaseMs, waitMs, signal });
    return grant && new HeldLock(grant, lease === undefined, this.#at);
  }

  /**
   * What `fn` returns, run while the lock is held; null, and `fn` is not run, where others held it until `wait`
   * (default 10 s) was over. The lock is given back when `fn` has ended; a failure to do so is not told, as the lease
   * ends it. `fn` decides by `held.signal` and `held.fence` what a lost lease means.
   */
  async withLock<T>(fn: (held: HeldLock) => T | Promise<T>, options: TryLockOptions = {}): Promise<T | null> {
    const held = await this.#at.run("withLock", () => {
      if (typeof fn !== "function") throw argumentError("fn", fn, "a function");
      checkOptions(options, TRY_OPTIONS);
      return this.#lock({ ...options, wait: options.wait ?? "10s" });
    });
    if (!held) return null;
    try {
      return await fn(held);
    } finally {
      await held.release().catch(() => false);
    }
  }

  #grant(ask: Ask): Promise<Grant | null> {
    if (ask.waitMs > 0) return lineOf(this.#store, this.#key).join(ask);
    const waiter = new Waiter(this.#store, this.#key, ask);
    void waiter.ask();
    return waiter.promise;
  }
}
