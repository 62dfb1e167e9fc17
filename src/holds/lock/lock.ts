import { ofThisCopy } from "../../base/copies.ts";
import { argumentError } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import { atSite, type Site, siteOf } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { register } from "../../store/registry/register.ts";
import { HeldLock, StoreHold } from "../held.ts";
import { type HoldRequest, LockCalls } from "../lock-calls.ts";
import {
  FORCE_RELEASE,
  type ForceReleaseOptions,
  LOCK,
  type LockOptions,
  type TryLockOptions,
  WATCHDOG,
} from "../lock-options.ts";
import { leaveHold, takeHold } from "../waiters.ts";
import { LockSet } from "./lock-set.ts";
import { type LockState, lockKeyOf, readState } from "./lock-state.ts";

/**
 * A lock with one holder at a time among all processes that share the store. A paused holder may still act after its lease,
 * and a failover of Redis may free the lock. Protect your data with the hold's `fence`: the storage refuses a lower one.
 *
 * Callers are served in order of arrival, over all processes. A release passes the lock to the caller that is next. Another
 * process has 150 ms to confirm that it takes the lock. If it does not (it is dead, stopped, or missed the message), the
 * waiters of other processes ask anew, and the first that does is next. If a holder dies, its lease ends the hold. A call
 * without `wait` gets null while others wait.
 *
 * Cost: one round trip to acquire, one to release, and one more when another process is next. A waiting process asks when the
 * holder's lease ends, at the latest after 16 s.
 */
export class Lock {
  readonly name: string;
  readonly #at: Site;
  readonly #store: Store;
  readonly #key: string;
  readonly #replicas: number;
  readonly #calls: LockCalls<HeldLock>;

  /** Throws ARGUMENT for a wrong name or option. Sends nothing. */
  constructor(store: Store, name: string, options: LockOptions = {}) {
    this.#at = siteOf("Lock", store, name);
    this.name = name;
    this.#store = store;
    this.#key = lockKeyOf(store, name);
    const { watchdogLeaseMs, replicas } = this.#at.checked(undefined, () => settingsOf(LOCK, options));
    this.#replicas = replicas;
    this.#calls = new LockCalls(this.#at, watchdogLeaseMs, (request) => this.#hold(request));
    register(store, "Lock", name, this);
  }

  /**
   * Several locks as one, which is held when all of them are, and acquired all or none. They are acquired in the order of
   * their keys, the same in every process, so sets with common names do not wait for each other in a circle. Throws
   * ARGUMENT if `locks` is empty, or has a name twice. Cost: one round trip for each lock.
   *
   * @example
   * await Lock.all([from, to]).withLock(({ fences, signal }) => transfer(amount, { fences, signal }));
   */
  static all(locks: readonly Lock[], options: Pick<LockOptions, "watchdogLease"> = {}): LockSet {
    return atSite("Lock.all", () => {
      if (!Array.isArray(locks) || !locks.every(isLock))
        throw argumentError("locks", locks, ofThisCopy("an array of locks", locks, "Lock"));
      if (locks.length === 0) throw argumentError("locks", locks, "an array of at least one lock");
      const names = locks.map(({ name }) => name);
      const twice = locks.find((lock, i) => locks.findIndex((each) => each.#key === lock.#key) !== i);
      if (twice) throw argumentError("locks", names, `locks of different names; "${twice.name}" is there twice`);
      const members = locks.map((lock) => ({
        name: lock.name,
        key: lock.#key,
        store: lock.#store,
        hold: (request: HoldRequest) => lock.#hold(request),
      }));
      return new LockSet(members, settingsOf(WATCHDOG, options).watchdogLeaseMs);
    });
  }

  /**
   * Acquires the lock. Resolves with null if others held it for all of `wait`. Temporary
   * failures of the store are retried for this time, then the call rejects. It also rejects with the reason of `signal`. A
   * request that is under way at the end of `wait` is awaited, at most for the store's deadline. A lease that may have ended
   * before the reply arrives is never returned.
   */
  tryLock(options: TryLockOptions = {}): Promise<HeldLock | null> {
    return this.#calls.tryLock(options);
  }

  /**
   * Runs `fn` while the lock is held, and resolves with its result. Rejects with DEADLINE, without a call of `fn`, if others
   * held the lock for all of `wait` (default 10 s). Rejects as `fn` rejects. Releases the lock when `fn` has ended. Rejects with
   * LOST, which has the result, if the lock was no longer held then. `fn` uses `held.signal` and `held.fence` to react to that.
   */
  withLock<T>(fn: (held: HeldLock) => T | Promise<T>, options: TryLockOptions = {}): Promise<T> {
    return this.#calls.withLock(fn, options);
  }

  /** Resolves with true if anyone holds the lock now, this process or another. Others may acquire or release it at any time. */
  isHeld(): Promise<boolean> {
    return this.#at.run("isHeld", async () => (await readState(this.#store, this.#key)).state.isHeld, "no");
  }

  /** Reads whether the lock is held, for how long, by which fence, and how many processes wait. One round trip. */
  inspect(): Promise<LockState> {
    return this.#at.run("inspect", async () => (await readState(this.#store, this.#key)).state, "no");
  }

  /**
   * Releases the lock of any holder, for operators. Resolves with false if it was free, or if `fence` is given and the
   * holder's fence is another one. The next waiter is notified. The former holder learns of it at its next renewal or
   * release, and works on until then. So protect the data by fences, which the next holder raises.
   */
  forceRelease(options: ForceReleaseOptions = {}): Promise<boolean> {
    return this.#at.run("forceRelease", async () => {
      const { fence } = settingsOf(FORCE_RELEASE, options);
      const { token, state } = await readState(this.#store, this.#key);
      if (!state.isHeld || (fence !== undefined && fence !== state.fence)) return false;
      // The token proves that no later hold is released.
      return leaveHold({ store: this.#store, key: this.#key, token });
    });
  }

  async #hold({ isWatched, leaseMs, waitMs, signal }: HoldRequest): Promise<HeldLock | null> {
    const replicas = this.#replicas;
    const grant = await takeHold(this.#store, this.#key, { permits: 1, limit: 1, leaseMs, waitMs, signal, replicas });
    return grant && new HeldLock(new StoreHold(grant, grant.number, `the lock ${this.#key}`), isWatched, this.#at);
  }
}

function isLock(value: unknown): boolean {
  return value instanceof Lock;
}
