import { RedlockSemaphore } from "redis-semaphore";
import type { Store } from "../store/contract.ts";
import type { SemaphoreOptions } from "./options.ts";
import { type AcquireOptions, type Permit, PermitCalls, type TryAcquireOptions } from "./permit-calls.ts";

/**
 * At most `limit` holders at a time among all processes that share the store. A permit lasts as long as its lease, which a
 * watchdog renews. Leases end by the server's clock.
 *
 * On one store callers are served in order of arrival, over all processes, as by a `Lock`. `tryAcquire` gets null while others
 * wait. Without subscriptions (over HTTP) waiters poll every 100 ms.
 *
 * With an array of stores the majority of independent servers decides, on redis-semaphore's `RedlockSemaphore`; `QuorumLock` says
 * what that promises. Callers of one object are then served in order, processes without order. A release wakes one caller of
 * each waiting process; a lost notice costs at most 1.5 s.
 *
 * Cost: one round trip to acquire, one to release, and one more when another process is next. About 40 bytes in Redis for each
 * hold; on several stores about 100 for each permit in use.
 */
export class Semaphore {
  readonly name: string;
  readonly limit: number;
  readonly #calls: PermitCalls;

  /**
   * Throws ARGUMENT for a wrong name or option. Sends nothing.
   * @example
   * const exports = new Semaphore(store, "exports", { limit: 5 });
   * await exports.withPermit(({ signal }) => render({ signal }));
   */
  constructor(store: Store | readonly Store[], name: string, options: SemaphoreOptions) {
    this.#calls = new PermitCalls(
      "Semaphore",
      store,
      name,
      options,
      (_permits, clients, settings) => new RedlockSemaphore(clients, name, options.limit, settings),
    );
    this.name = name;
    this.limit = this.#calls.limit;
  }

  /** Acquires a permit if one is free now. Resolves with null if none is. Rejects if the store fails. */
  tryAcquire(options: TryAcquireOptions = {}): Promise<Permit | null> {
    return this.#calls.tryAcquire(1, options);
  }

  /**
   * Acquires a permit. Rejects with DEADLINE if none was free for all of `wait` (default 10 s), with the reason of `signal`, or
   * as the store if it still fails at the end of the wait.
   */
  acquire(options: AcquireOptions = {}): Promise<Permit> {
    return this.#calls.acquire(1, options);
  }

  /**
   * Runs `fn` with a permit, and resolves with its result. Rejects as `acquire` and as `fn`. Releases the permit when `fn` has
   * ended; a failed release is ignored, because the lease ends the hold. `permit.signal` aborts when the permit is lost.
   */
  withPermit<T>(fn: (permit: Permit) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    return this.#calls.with("withPermit", 1, fn, options);
  }
}
