import { OrielError } from "../../base/errors.ts";
import { runOuter, Site } from "../../base/site.ts";
import type { Duration } from "../../base/time.ts";
import type { Store } from "../../store/contract.ts";
import { type HeldLock, looking, stopWatchdog } from "../held.ts";
import { type HoldRequest, LockCalls } from "../lock-calls.ts";
import { leaseMsOf, type TryLockOptions } from "../lock-options.ts";

/** One lock of a set. */
export interface SetMember {
  readonly name: string;
  readonly key: string;
  readonly store: Pick<Store, "monotonic" | "address">;
  hold(request: HoldRequest): Promise<HeldLock | null>;
}

/** Several locks that are acquired together (`Lock.all`). */
export class LockSet {
  /** In the order given. */
  readonly names: readonly string[];
  readonly #at: Site;
  readonly #members: readonly SetMember[];
  readonly #calls: LockCalls<HeldLocks>;

  /** `members` are at least one, of different keys. */
  constructor(members: readonly SetMember[], watchdogLeaseMs: number) {
    this.names = members.map(({ name }) => name);
    this.#members = members;
    // Errors name the server if all locks are on the same.
    const [{ store }] = members as [SetMember];
    const isOnOne = members.every((member) => member.store === store);
    this.#at = new Site("Lock", this.names.join(", "), isOnOne ? store : undefined);
    this.#calls = new LockCalls(this.#at, watchdogLeaseMs, (request) => this.#hold(request));
  }

  /** Acquires all locks, or none. Resolves with null if one of them was not free within `wait`. Otherwise as `Lock.tryLock`. */
  tryLock(options: TryLockOptions = {}): Promise<HeldLocks | null> {
    return this.#calls.tryLock(options);
  }

  /** As `Lock.withLock`, under all locks. */
  withLock<T>(fn: (held: HeldLocks) => T | Promise<T>, options: TryLockOptions = {}): Promise<T> {
    return this.#calls.withLock(fn, options);
  }

  async #hold(request: HoldRequest): Promise<HeldLocks | null> {
    const { monotonic } = this.#members[0]!.store;
    const endMs = monotonic() + request.waitMs;
    for (;;) {
      const held = await this.#acquireAll(request, () => Math.max(0, endMs - monotonic()));
      if (!held) return null;
      const all = new HeldLocks(held, request.leaseMs, this.#at);
      if (!request.isWatched) for (const each of held) stopWatchdog(each);
      // The first holds are older than the last. Each must last for the lease from now.
      if (request.isWatched ? all.leftMs > 0 : await all.extend(request.leaseMs)) return all;
      await all.release().catch(() => false);
      if (monotonic() >= endMs) return null;
    }
  }

  /** Acquires the locks in the order of their keys, and renews those that it has while it waits for the next. */
  async #acquireAll(request: HoldRequest, leftMs: () => number): Promise<HeldLock[] | null> {
    const held = new Map<SetMember, HeldLock>();
    const release = () => Promise.all([...held.values()].map((each) => each.release().catch(() => false)));
    try {
      for (const member of [...this.#members].sort((a, b) => (a.key < b.key ? -1 : 1))) {
        const next = await member.hold({ ...request, waitMs: leftMs(), isWatched: true });
        if (!next) {
          request.notFree = member.name;
          await release();
          return null;
        }
        held.set(member, next);
      }
    } catch (error) {
      void release();
      throw error;
    }
    return this.#members.map((member) => held.get(member)!);
  }
}

/** A hold of several locks. It is lost when one of them is. */
export class HeldLocks {
  /** The fence of each lock, in the order of the locks. */
  readonly fences: readonly number[];
  readonly #held: readonly HeldLock[];
  readonly #leaseMs: number;
  readonly #at: Site;
  #abort: AbortController | undefined;

  constructor(held: readonly HeldLock[], leaseMs: number, at: Site) {
    this.fences = held.map(({ fence }) => fence);
    this.#held = held;
    this.#leaseMs = leaseMs;
    this.#at = at;
  }

  /** Ms for which all locks are still proven to be held. 0 when one is released or lost. */
  get leftMs(): number {
    return Math.min(...this.#held.map(({ leftMs }) => leftMs));
  }

  /** Aborts with LOST when one of the locks can no longer be proven to be held. Does not abort after a release. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      looking(this.#abort.signal, () => void this.leftMs);
      for (const { signal } of this.#held) {
        const lose = () => this.#lose(signal.reason);
        if (signal.aborted) lose();
        else signal.addEventListener("abort", lose, { once: true });
      }
    }
    return this.#abort.signal;
  }

  /** Throws LOST if one of the holds is no longer proven, or was released. */
  assertHeld(): void {
    for (const each of this.#held) each.assertHeld();
  }

  /**
   * Extends all holds to last at least `lease` from now; default: the first lease. Resolves with false if one of them was
   * released or lost. Rejects if the store fails; the holds then last as long as before, or longer.
   */
  extend(lease: Duration = this.#leaseMs): Promise<boolean> {
    return runOuter(this.#at, "extend", async () => {
      leaseMsOf(lease);
      const areExtended = (await settled(this.#held.map((each) => each.extend(lease)))).every(Boolean);
      // One may have ended while the answer for another was under way.
      return areExtended && this.leftMs > 0;
    });
  }

  /** Releases all locks. Resolves with true if all were held until now. Rejects if the store fails; another call tries again. */
  release(): Promise<boolean> {
    return runOuter(this.#at, "release", async () =>
      (await settled(this.#held.map((each) => each.release()))).every(Boolean),
    );
  }

  #lose(reason: unknown): void {
    this.#abort?.abort(reason instanceof OrielError ? reason : new OrielError("LOST", "a lock is lost"));
  }
}

/** The results when all calls have ended. Rejects with the first error, but not before. */
async function settled(calls: readonly Promise<boolean>[]): Promise<boolean[]> {
  const results = await Promise.allSettled(calls);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}
