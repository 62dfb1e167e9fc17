import { RedlockMutex } from "redis-semaphore";
import { settingsOf } from "../../base/options.ts";
import type { HeldLock } from "../held.ts";
import { LockCalls } from "../lock-calls.ts";
import { type LockOptions, type TryLockOptions, WATCHDOG } from "../lock-options.ts";
import { Quorum, type QuorumClient, siteOfClients } from "./quorum.ts";

/**
 * A lock that the majority of several independent servers grants: redis-semaphore's `RedlockMutex` with the calls of a `Lock`. It
 * excludes a `RedlockMutex` of that key on the same servers, and no `Lock`. It stays usable, and held, while a minority of the servers is
 * down, slow or cut off. Use an odd number of servers that do not replicate each other; a `Lock` on one server, or one
 * cluster, is faster, fair, and has fences.
 *
 * `fence` of its holds is null: independent servers have no common counter, and a majority that changes could grant a lower
 * number later. So the storage cannot refuse a paused holder. Work must end when `signal` aborts, or be harmless when it is
 * done twice. A hold that no majority renews in time (1 s) is lost at once.
 *
 * A server that was restarted empty has forgotten the hold. A renewal gives it back, so a hold on all servers survives one
 * such restart. But if one server is down and another one is restarted empty before the next renewal, the lock can be held
 * twice. Let each server keep its data (`appendonly yes`, `appendfsync always`), or start it again after the longest lease.
 *
 * Cost: one request to each server to acquire, and one to release. The slowest of the fastest majority decides. Callers of one
 * object are served in order, processes without order: each polls every 25 to 75 ms.
 */
export class QuorumLock {
  readonly name: string;
  readonly #calls: LockCalls<HeldLock<null>>;

  /**
   * `clients` are at least two of ioredis, of different servers; three or five are usual. They stay yours to close. Throws
   * ARGUMENT for a wrong client, name or option. Sends nothing.
   *
   * @example
   * const lock = new QuorumLock([redisA, redisB, redisC], "nightly");
   * await lock.withLock(({ signal }) => report({ signal }));
   */
  constructor(clients: readonly QuorumClient[], name: string, options: Pick<LockOptions, "watchdogLease"> = {}) {
    const at = siteOfClients("QuorumLock", clients, name);
    this.name = name;
    const { watchdogLeaseMs } = at.checked(undefined, () => settingsOf(WATCHDOG, options));
    const quorum = new Quorum(clients, at);
    this.#calls = new LockCalls(at, watchdogLeaseMs, (request) =>
      quorum.hold(request, `the lock "${name}"`, (voters, settings) => new RedlockMutex(voters, name, settings)),
    );
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
