import { argumentError } from "../errors.ts";
import { type Place, placeOf } from "../place.ts";
import type { Store } from "../store/contract.ts";
import type { Grant } from "./grant.ts";
import { HeldLock } from "./held.ts";
import {
  checkOptions,
  type ForceReleaseOptions,
  type LockOptions,
  leaseMsOf,
  type TryLockOptions,
  waitMsOf,
} from "./lock-options.ts";
import { type LockState, stateOf } from "./lock-state.ts";
import { forceRelease } from "./steps/force-release.ts";
import { inspect } from "./steps/inspect.ts";
import { lockKeyOf } from "./steps/keys.ts";
import { waitQueueOf } from "./wait-queue.ts";
import { type AcquireRequest, Waiter } from "./waiter.ts";

const TRY_OPTIONS = ["wait", "lease", "signal"];

/**
 * A lock with one holder at a time among all processes that share the store. A paused holder may still act after its lease,
 * and a failover of Redis may free the lock. Protect your data with the hold's `fence`: the storage refuses a lower one.
 *
 * Cost: one round trip to acquire, one to release. A release notifies the process that has waited longest, and reserves the
 * lock for it for 150 ms. If a lease ends without a release, the first request afterwards does the same. If the notified
 * process does not come (it is dead, stopped, or missed the notice), the first process that has asked since is next.
 * Otherwise a waiter sleeps until the holder's lease ends, and asks about every 4 s to keep its place.
 *
 * Callers within a process are served in order. So are processes, each with up to 9 of its callers in a row. A call without
 * `wait` gets null while the lock is reserved for another process.
 *
 * redis-semaphore's `new Mutex(client, store.keyOf(name))` uses the same key and value, so both exclude each other. It
 * publishes no release and keeps no order, so waiters poll every 100 ms while it holds the lock.
 */
export class Lock {
  readonly name: string;
  readonly #at: Place;
  readonly #store: Store;
  readonly #key: string;
  readonly #watchdogLeaseMs: number;

  /** Throws ARGUMENT for a wrong name or option. Sends nothing. */
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
   * Acquires the lock. Resolves with null if others held it, or it was reserved for others, for all of `wait`. Temporary
   * failures of the store are retried for this time, then the call rejects. It also rejects with the reason of `signal`. A
   * request that is under way at the end of `wait` is awaited, at most for the store's deadline. A lease that may have ended
   * before the reply arrives is never returned.
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
   * Runs `fn` while the lock is held, and resolves with its result. Resolves with null, without a call of `fn`, if others
   * held the lock for all of `wait` (default 10 s). Rejects as `fn` rejects. Releases the lock when `fn` has ended. A
   * failed release is ignored, because the lease ends the hold. `fn` uses `held.signal` and `held.fence` to react to a lost lease.
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

  /** Resolves with true if anyone holds the lock now, this process or another. Others may acquire or release it at any time. */
  isHeld(): Promise<boolean> {
    return this.#at.run(
      "isHeld",
      async () => (await this.#store.run(inspect, this.#key, undefined)).token !== "",
      "no",
    );
  }

  /** Reads who holds the lock, for how long, and how many processes wait. For operators and dashboards. One round trip. */
  inspect(): Promise<LockState> {
    return this.#at.run("inspect", async () => stateOf(await this.#store.run(inspect, this.#key, undefined)), "no");
  }

  /**
   * Releases the lock of any holder, for operators. Resolves with false if it was free, or if `fence` is given and the
   * holder's fence is another one. The next waiter is notified. The former holder learns of it at its next renewal or
   * release, and works on until then. So protect the data by fences, which the next holder raises.
   */
  forceRelease(options: ForceReleaseOptions = {}): Promise<boolean> {
    return this.#at.run("forceRelease", async () => {
      checkOptions(options, ["fence"]);
      const { fence } = options;
      if (fence !== undefined && !(Number.isSafeInteger(fence) && fence > 0))
        throw argumentError("fence", fence, "a fence, which is an integer from 1 to 2^53 - 1");
      return this.#store.run(forceRelease, this.#key, fence);
    });
  }

  #grant(request: AcquireRequest): Promise<Grant | null> {
    if (request.waitMs > 0) return waitQueueOf(this.#store, this.#key).enqueue(request);
    const waiter = new Waiter(this.#store, this.#key, request);
    void waiter.tryOnce();
    return waiter.promise;
  }
}
