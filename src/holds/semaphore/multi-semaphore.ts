import type { Store } from "../../store/contract.ts";
import {
  type Permit,
  PermitCalls,
  type PermitOptions,
  type SemaphoreOptions,
  type TryPermitOptions,
} from "./permit-calls.ts";

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
