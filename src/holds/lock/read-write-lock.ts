import { settingsOf } from "../../base/options.ts";
import { siteOf } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { register } from "../../store/registry/register.ts";
import { HeldLock, StoreHold } from "../held.ts";
import { type HoldRequest, LockCalls } from "../lock-calls.ts";
import { LOCK, type LockOptions, type TryLockOptions } from "../lock-options.ts";
import { takeHold } from "../waiters.ts";
import { readWriteKeyOf } from "./lock-state.ts";

/** A writer takes all permits, a reader one. */
const ALL = 2 ** 32 - 1;

/**
 * A lock that many readers hold together, or one writer alone, among all processes that share the store.
 *
 * Readers and writers are served in order of arrival, as by a `Lock`: a reader that asks after a waiting writer is served
 * after it. So neither kind starves. A hold cannot change its kind: a reader that waits for the write lock waits for itself
 * until its `wait` ends.
 *
 * Every hold has a fence, higher than those of all earlier holds of both kinds. Let the storage refuse a write with a lower
 * one. Keys of a `Lock` with the same name are others, so the two do not exclude each other.
 *
 * Cost: as of a `Lock`. Each reader has about 40 bytes in Redis, in the string that is the whole state.
 */
export class ReadWriteLock {
  readonly name: string;
  /** The side of the readers. */
  readonly read: LockSide;
  /** The side of the writers. */
  readonly write: LockSide;

  /** Throws ARGUMENT for a wrong name or option. Sends nothing. */
  constructor(store: Store, name: string, options: LockOptions = {}) {
    const at = siteOf("ReadWriteLock", store, name);
    const { watchdogLeaseMs, replicas } = at.checked(undefined, () => settingsOf(LOCK, options));
    this.name = name;
    const key = readWriteKeyOf(store, name);
    const what = `the lock ${key}`;
    const side = (permits: number, prefix: string) =>
      new LockCalls(
        at,
        watchdogLeaseMs,
        async ({ isWatched, leaseMs, waitMs, signal }: HoldRequest) => {
          const grant = await takeHold(store, key, { permits, limit: ALL, leaseMs, waitMs, signal, replicas });
          return grant && new HeldLock(new StoreHold(grant, grant.number, what), isWatched, at);
        },
        prefix,
      );
    this.read = Object.assign(side(1, "read."), { isShared: true });
    this.write = side(ALL, "write.");
    register(store, "ReadWriteLock", name, this);
  }
}

/** One side of a `ReadWriteLock`. Its calls are those of a `Lock`. */
export interface LockSide {
  /** True for the readers' side. Where a lock must have one holder, it is refused. */
  readonly isShared?: boolean;
  /** As `Lock.tryLock`. */
  tryLock(options?: TryLockOptions): Promise<HeldLock | null>;
  /** As `Lock.withLock`. */
  withLock<T>(fn: (held: HeldLock) => T | Promise<T>, options?: TryLockOptions): Promise<T>;
}
