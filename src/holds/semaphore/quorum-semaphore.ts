import { RedlockMultiSemaphore } from "redis-semaphore";
import { argumentError } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import {
  type Permit,
  PermitCalls,
  type PermitOptions,
  QUORUM_SEMAPHORE,
  type SemaphoreOptions,
} from "./permit-calls.ts";
import { type Library, Quorum, type QuorumClient, siteOfClients } from "./quorum.ts";

/**
 * At most `limit` permits at a time, granted by the majority of several independent servers: redis-semaphore's
 * `RedlockMultiSemaphore` with the calls of a `MultiSemaphore`. `QuorumLock` says what the majority promises.
 *
 * Leases end by the clocks of the processes that ask, and each process ends the holds of all by its own lease. So all processes must
 * have the same `watchdogLease`, the same `limit`, and clocks that agree within a small part of the lease. A `Semaphore` on one server needs
 * none of this, and is fair.
 */
export class QuorumSemaphore {
  readonly name: string;
  readonly limit: number;
  readonly #calls: PermitCalls;

  /**
   * `clients` as of a `QuorumLock`. Throws ARGUMENT for a wrong client, name or option. Sends nothing.
   * @example
   * const exports = new QuorumSemaphore([redisA, redisB, redisC], "exports", { limit: 5 });
   * await exports.withPermits(2, ({ signal }) => render({ signal }));
   */
  constructor(clients: readonly QuorumClient[], name: string, options: Omit<SemaphoreOptions, "replicas">) {
    const at = siteOfClients("QuorumSemaphore", clients, name);
    const settings = at.checked(undefined, () => settingsOf(QUORUM_SEMAPHORE, options));
    const { limit } = settings;
    this.name = name;
    this.limit = limit;
    const quorum = new Quorum(clients, at);
    const library = (permits: number, ...[voters, call]: Parameters<Library>) => {
      // Each process ends every permit that is older than its own lease. So a shorter lease would end the holds of other processes, and
      // they would end a hold with a longer one.
      if (call.lockTimeout !== settings.watchdogLeaseMs)
        throw argumentError("lease", call.lockTimeout, `the one of all permits, ${settings.watchdogLeaseMs} ms`);
      return new RedlockMultiSemaphore(voters, name, limit, permits, call);
    };
    this.#calls = new PermitCalls(at, settings, (permits, request, what) =>
      quorum.hold(request, what, (...call) => library(permits, ...call)),
    );
  }

  /** As `MultiSemaphore.tryAcquire`. */
  tryAcquire(permits: number, options: Omit<PermitOptions, "lease" | "wait"> = {}): Promise<Permit | null> {
    return this.#calls.tryAcquire(permits, options);
  }

  /** As `MultiSemaphore.acquire`. */
  acquire(permits: number, options: Omit<PermitOptions, "lease"> = {}): Promise<Permit> {
    return this.#calls.acquire(permits, options);
  }

  /** As `MultiSemaphore.withPermits`. */
  withPermits<T>(
    permits: number,
    fn: (permit: Permit) => T | Promise<T>,
    options: Omit<PermitOptions, "lease"> = {},
  ): Promise<T> {
    return this.#calls.with("withPermits", permits, fn, options);
  }
}
