import { idleTimeout } from "../../base/async/timers.ts";
import type { HeldLock } from "../../holds/held.ts";
import { Lock } from "../../holds/lock/lock.ts";
import type { Store } from "../../store/contract.ts";
import { quietStore } from "../../store/registry/quiet-store.ts";

/** A lease after a collection is at least so long, and so long while the interval of the collections is unknown. */
const MIN_LEASE_MS = 6000;
/** Then the process extends it this often, until its second collection or until so long after its first. */
const EXTEND_MS = 2000;
const MAX_FIRST_MS = 60_000;
/** The interval of scrapes is the longest one of this time, so that a look at the metrics by hand does not shorten it. */
const REMEMBERED_MS = 300_000;
const MAX_INTERVAL_MS = 3_600_000;

interface Seat {
  lock: Lock;
  held: HeldLock | undefined;
  asking: Promise<boolean> | undefined;
  /** When this process was asked, newest last, and the first time before the remembered ones. */
  askedMs: number[];
}

/**
 * Elects the process that reports the shared numbers of a structure. Its lock lasts from each collection until the next
 * one has certainly failed, by the interval of the collections that it has seen, and is not released. Prometheus then
 * knows that the process is gone: its numbers are out of date before another process reports, and no sum counts both.
 */
export class Election {
  readonly #store: Store;
  readonly #seats = new Map<string, Seat>();

  constructor(store: Store) {
    this.#store = quietStore(store); // the registry lists the structures of users
  }

  /** Whether this process reports now. One round trip, which all structures of a collection share. */
  isElected(structure: string): Promise<boolean> {
    let seat = this.#seats.get(structure);
    if (!seat) {
      seat = { lock: new Lock(this.#store, `metrics:${structure}`), held: undefined, asking: undefined, askedMs: [] };
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
    const nowMs = this.#store.monotonic();
    while (seat.askedMs.length > 1 && seat.askedMs[1]! < nowMs - REMEMBERED_MS) seat.askedMs.shift();
    seat.askedMs.push(nowMs);
    const leaseMs = leaseMsOf(seat.askedMs);
    if (await seat.held?.extend(leaseMs)) return true;
    seat.held = (await seat.lock.tryLock({ lease: leaseMs })) ?? undefined;
    if (seat.held && seat.askedMs.length === 1) this.#keepFirst(seat, seat.held, nowMs);
    return seat.held !== undefined;
  }

  /** Keeps the lock until the second collection, which shows the interval. */
  #keepFirst(seat: Seat, held: HeldLock, firstMs: number): void {
    idleTimeout(async () => {
      if (seat.askedMs.length > 1 || this.#store.monotonic() - firstMs > MAX_FIRST_MS) return;
      // A lock that is lost, or a store that does not answer, is seen at the next collection.
      if (await held.extend(MIN_LEASE_MS).catch(() => false)) this.#keepFirst(seat, held, firstMs);
    }, EXTEND_MS);
  }
}

/** The next collection is late by a tenth, and takes a second, at most. */
function leaseMsOf(askedMs: readonly number[]): number {
  const intervalMs = Math.max(0, ...askedMs.slice(1).map((ms, i) => ms - askedMs[i]!));
  return Math.max(MIN_LEASE_MS, Math.ceil(Math.min(intervalMs, MAX_INTERVAL_MS) * 1.1) + 1000);
}
