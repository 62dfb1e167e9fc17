import type { Store } from "../../store/contract.ts";
import {
  type Permit,
  PermitCalls,
  type PermitOptions,
  type SemaphoreOptions,
  type TryPermitOptions,
} from "./permit-calls.ts";

/**
 * At most `limit` holders at a time among all processes that share the store. A permit lasts as long as its lease, which a
 * watchdog renews. Leases end by the server's clock.
 *
 * Callers are served in order of arrival, over all processes, as by a `Lock`. `tryAcquire` gets null while others wait. Without
 * subscriptions (over HTTP) waiters poll every 100 ms.
 *
 * Cost: one round trip to acquire, one to release, and one more when another process is next. About 40 bytes in Redis for each
 * hold.
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
  constructor(store: Store, name: string, options: SemaphoreOptions) {
    this.#calls = PermitCalls.on(store, "Semaphore", name, this, options);
    this.name = name;
    this.limit = this.#calls.limit;
  }

  /** Acquires a permit if one is free now. Resolves with null if none is. Rejects if the store fails. */
  tryAcquire(options: TryPermitOptions = {}): Promise<Permit | null> {
    return this.#calls.tryAcquire(1, options);
  }

  /**
   * Acquires a permit. Rejects with DEADLINE if none was free for all of `wait` (default 10 s), with the reason of `signal`, or
   * as the store if it still fails at the end of the wait.
   */
  acquire(options: PermitOptions = {}): Promise<Permit> {
    return this.#calls.acquire(1, options);
  }

  /**
   * Runs `fn` with a permit, and resolves with its result. Rejects as `acquire` and as `fn`. Releases the permit when `fn` has
   * ended; a failed release is ignored, because the lease ends the hold. `permit.signal` aborts when the permit is lost.
   */
  withPermit<T>(fn: (permit: Permit) => T | Promise<T>, options: PermitOptions = {}): Promise<T> {
    return this.#calls.with("withPermit", 1, fn, options);
  }
}

/**
 * As `Semaphore`, for holders of several permits at once. A hold gets all its permits or none. A `Semaphore` and a
 * `MultiSemaphore` of one name share their permits.
 *
 * Callers are served strictly in order of arrival over all processes, whatever they ask for. A large request is served before
 * smaller ones that come later.
 *
 * Cost: as of a `Semaphore`. A hold of many permits costs no more than one of few.
 */
export class MultiSemaphore {
  readonly name: string;
  readonly limit: number;
  readonly #calls: PermitCalls;

  /**
   * Throws ARGUMENT for a wrong name or option. Sends nothing.
   * @example
   * const memory = new MultiSemaphore(store, "megabytes", { limit: 512 });
   * await memory.withPermits(64, ({ signal }) => resize(image, { signal }));
   */
  constructor(store: Store, name: string, options: SemaphoreOptions) {
    this.#calls = PermitCalls.on(store, "MultiSemaphore", name, this, options);
    this.name = name;
    this.limit = this.#calls.limit;
  }

  /** Acquires 1 to 1000 permits if they are free now. Resolves with null if they are not. Rejects if the store fails. */
  tryAcquire(permits: number, options: TryPermitOptions = {}): Promise<Permit | null> {
    return this.#calls.tryAcquire(permits, options);
  }

  /** As `Semaphore.acquire`, for 1 to 1000 permits at once, at most the limit. */
  acquire(permits: number, options: PermitOptions = {}): Promise<Permit> {
    return this.#calls.acquire(permits, options);
  }

  /** As `Semaphore.withPermit`, with 1 to 1000 permits at once, at most the limit. */
  withPermits<T>(permits: number, fn: (permit: Permit) => T | Promise<T>, options: PermitOptions = {}): Promise<T> {
    return this.#calls.with("withPermits", permits, fn, options);
  }
}
