import { RedlockMultiSemaphore } from "redis-semaphore";
import type { Store } from "../store/contract.ts";
import type { SemaphoreOptions } from "./options.ts";
import { type AcquireOptions, type Permit, PermitCalls, type TryAcquireOptions } from "./permit-calls.ts";

/**
 * As `Semaphore`, for holders of several permits at once; with an array of stores on redis-semaphore's `RedlockMultiSemaphore`.
 * A hold gets all its permits or none. A `Semaphore` and a `MultiSemaphore` of one name share their permits.
 *
 * Callers are served strictly in order of arrival, whatever they ask for. A large request is served before smaller ones that
 * come later. On one store that is the order of all processes. On several stores it is that of one object: a large request
 * may starve if other processes take single permits.
 *
 * Cost: as of a `Semaphore`. On one store a hold of many permits costs no more than one of few.
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
  constructor(store: Store | readonly Store[], name: string, options: SemaphoreOptions) {
    this.#calls = new PermitCalls(
      "MultiSemaphore",
      store,
      name,
      options,
      (permits, clients, settings) => new RedlockMultiSemaphore(clients, name, options.limit, permits, settings),
    );
    this.name = name;
    this.limit = this.#calls.limit;
  }

  /** Acquires 1 to 1000 permits if they are free now. Resolves with null if they are not. Rejects if the store fails. */
  tryAcquire(permits: number, options: TryAcquireOptions = {}): Promise<Permit | null> {
    return this.#calls.tryAcquire(permits, options);
  }

  /** As `Semaphore.acquire`, for 1 to 1000 permits at once, at most the limit. */
  acquire(permits: number, options: AcquireOptions = {}): Promise<Permit> {
    return this.#calls.acquire(permits, options);
  }

  /** As `Semaphore.withPermit`, with 1 to 1000 permits at once, at most the limit. */
  withPermits<T>(permits: number, fn: (permit: Permit) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    return this.#calls.with("withPermits", permits, fn, options);
  }
}
