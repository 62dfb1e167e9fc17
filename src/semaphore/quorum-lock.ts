import { RedlockMutex } from "redis-semaphore";
import { HeldLock } from "../hold/held.ts";
import { LockCalls } from "../hold/lock-calls.ts";
import { type LockOptions, type TryLockOptions, watchdogLeaseMsOf } from "../hold/lock-options.ts";
import { register } from "../registry/register.ts";
import type { Store } from "../store/contract.ts";
import { lockMember } from "./member.ts";
import { type Held, MemberHold } from "./member-hold.ts";
import { placeOfStores } from "./stores.ts";
import { Turns } from "./turns.ts";

/**
 * A lock that the majority of several independent servers grants, on redis-semaphore's `RedlockMutex`. It stays usable, and
 * held, while a minority of them is down, slow or cut off. Use an odd number of servers that do not replicate each other; a
 * `Lock` on one server, or one cluster, is faster, fair, and has fences.
 *
 * `fence` of its holds is null: independent servers have no common counter, and a majority that changes could grant a lower
 * number later. So the storage cannot refuse a paused holder. Work must end when `signal` aborts, or be harmless when it is
 * done twice.
 *
 * A server that was restarted empty has forgotten the hold. A renewal gives it back, so a hold on all servers survives one
 * such restart. But if one server is down and another one is restarted empty before the next renewal, the lock can be held
 * twice. Let each server keep its data (`appendonly yes`, `appendfsync always`), or start it again after the longest lease.
 *
 * On each server it uses the key of a `Lock` of that name, so each excludes the other. Cost: one request to each server to
 * acquire, and one to release. The slowest of the fastest majority decides. Waiters poll every 25 to 75 ms, without order.
 */
export class QuorumLock {
  readonly name: string;
  readonly #calls: LockCalls<HeldLock<null>>;

  /**
   * `stores` are at least two, of different servers; three or five are usual. Throws ARGUMENT for a wrong name or option.
   * Sends nothing.
   *
   * @example
   * const lock = new QuorumLock([storeA, storeB, storeC], "nightly");
   * await lock.withLock(({ signal }) => report({ signal }));
   */
  constructor(stores: readonly Store[], name: string, options: Pick<LockOptions, "watchdogLease"> = {}) {
    const at = placeOfStores("QuorumLock", stores, name, 2);
    const members = stores.map((store) => lockMember(store, name));
    this.name = name;
    const watchdogLeaseMs = at.checked(undefined, () => watchdogLeaseMsOf(options));
    const turns = new Turns(members, true);
    const held: Held = {
      what: `the lock "${name}"`,
      members,
      library: (clients, settings) => new RedlockMutex(clients, name, settings),
      onReleased: () => turns.notify(),
    };
    this.#calls = new LockCalls(at, watchdogLeaseMs, async (request) => {
      const hold = await turns.hold(request, () => MemberHold.acquire(held, request.leaseMs));
      return hold && new HeldLock(hold, request.isWatched, at);
    });
    for (const store of stores) register(store, "QuorumLock", name, this, {}, { servers: stores.length });
  }

  /**
   * Acquires the lock. Resolves with null if the majority did not grant it for all of `wait`. Rejects if too few servers answer
   * until then, and with the reason of `signal`. Otherwise as `Lock.tryLock`.
   */
  tryLock(options: TryLockOptions = {}): Promise<HeldLock<null> | null> {
    return this.#calls.tryLock(options);
  }

  /** As `Lock.withLock`. */
  withLock<T>(fn: (held: HeldLock<null>) => T | Promise<T>, options: TryLockOptions = {}): Promise<T> {
    return this.#calls.withLock(fn, options);
  }
}
