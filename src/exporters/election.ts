import type { HeldLock } from "../lock/held.ts";
import { Lock } from "../lock/lock.ts";
import { quietStore } from "../registry/quiet-store.ts";
import type { Store } from "../store/contract.ts";

interface Seat {
  lock: Lock;
  held: HeldLock | undefined;
  asking: Promise<boolean> | undefined;
}

/**
 * Elects the process that reports the shared numbers of a structure. Its lock lasts for `leaseMs` from each collection and is
 * not released. Prometheus collects from a process, or notices that it is gone, at least once in this time. So the former
 * process's numbers are out of date before another process reports, and a sum never counts both.
 */
export class Election {
  readonly #store: Store;
  readonly #leaseMs: number;
  readonly #seats = new Map<string, Seat>();

  constructor(store: Store, leaseMs: number) {
    this.#store = quietStore(store); // the registry lists the structures of users
    this.#leaseMs = leaseMs;
  }

  /** Whether this process reports now. One round trip, which all structures of a collection share. */
  isElected(structure: string): Promise<boolean> {
    let seat = this.#seats.get(structure);
    if (!seat) {
      seat = { lock: new Lock(this.#store, `metrics:${structure}`), held: undefined, asking: undefined };
      this.#seats.set(structure, seat);
    }
    return this.#ask(seat);
  }

  #ask(seat: Seat): Promise<boolean> {
    seat.asking ??= this.#extendOrAcquire(seat).finally(() => {
      seat.asking = undefined;
    });
    return seat.asking;
  }

  async #extendOrAcquire(seat: Seat): Promise<boolean> {
    if (await seat.held?.extend(this.#leaseMs)) return true;
    seat.held = (await seat.lock.tryLock({ lease: this.#leaseMs })) ?? undefined;
    return seat.held !== undefined;
  }
}
