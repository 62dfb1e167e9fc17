import { type Place, placeOf } from "../place.ts";
import { register } from "../registry/register.ts";
import type { Store } from "../store/contract.ts";
import { HeldLock, stopWatchdog } from "./held.ts";
import { type HoldRequest, LockCalls } from "./lock-calls.ts";
import { type LockOptions, type TryLockOptions, watchdogLeaseMsOf } from "./lock-options.ts";
import { ReadersLeave } from "./readers-leave.ts";
import { exclusive } from "./steps/hold-steps.ts";
import { writeKeyOf } from "./steps/keys.ts";
import { readers, shared } from "./steps/readers.ts";
import { StoreHold } from "./store-hold.ts";
import { grantOf } from "./wait-queue.ts";

/**
 * A lock that many readers hold together, or one writer alone, among all processes that share the store.
 *
 * Readers and writers are served in order of arrival, as by a `Lock`: a reader that asks after a waiting writer is served
 * after it. So neither kind starves. A writer first takes its turn, which stops new readers, then waits for the readers that
 * are inside. A hold cannot change its kind: a reader that waits for the write lock waits for itself until its `wait` ends.
 *
 * Every hold has a fence, higher than those of all earlier holds of both kinds. Let the storage refuse a write with a lower
 * one. Keys of a `Lock` with the same name are others, so the two do not exclude each other.
 *
 * Cost: a reader takes one round trip to enter and one to leave, a writer one more. Each reader has about 100 bytes in Redis.
 */
export class ReadWriteLock {
  readonly name: string;
  /** The side of the readers. */
  readonly read: LockSide;
  /** The side of the writers. */
  readonly write: LockSide;

  /** Throws ARGUMENT for a wrong name or option. Sends nothing. */
  constructor(store: Store, name: string, options: LockOptions = {}) {
    const at = placeOf("ReadWriteLock", store, name);
    const watchdogLeaseMs = at.checked(undefined, () => watchdogLeaseMsOf(options));
    this.name = name;
    const key = writeKeyOf(store, name);
    const enter = (request: HoldRequest) => holdShared(store, key, at, request);
    this.read = Object.assign(new LockCalls(at, watchdogLeaseMs, enter, "read."), { isShared: true });
    this.write = new LockCalls(at, watchdogLeaseMs, (request) => holdExclusive(store, key, at, request), "write.");
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
  withLock<T>(fn: (held: HeldLock) => T | Promise<T>, options?: TryLockOptions): Promise<T | null>;
}

async function holdShared(store: Store, key: string, at: Place, request: HoldRequest): Promise<HeldLock | null> {
  const grant = await grantOf(shared, store, key, request);
  return grant && new HeldLock(new StoreHold(grant), request.isWatched, at);
}

/** Takes the writers' lock, which stops new readers, and waits until the others have left. Renews the lock in the meantime. */
async function holdExclusive(store: Store, key: string, at: Place, request: HoldRequest): Promise<HeldLock | null> {
  const endMs = store.monotonic() + request.waitMs;
  // Without a wait, readers are not stopped for an attempt that must fail.
  if (request.waitMs === 0 && (await store.run(readers, key, undefined)).count > 0) return null;
  for (;;) {
    const waitMs = Math.max(0, endMs - store.monotonic());
    const grant = await grantOf(exclusive, store, key, { ...request, waitMs });
    if (!grant) return null;
    const held = new HeldLock(new StoreHold(grant), true, at);
    const isAlone = await new ReadersLeave(store, key, held, endMs, request.signal).wait().catch((error) => {
      void held.release().catch(() => {});
      throw error;
    });
    if (isAlone && (request.isWatched || (await lastsFor(held, request.leaseMs)))) return held;
    await held.release().catch(() => false);
    if (store.monotonic() >= endMs) return null;
  }
}

/** Lets a renewed hold last for the lease from now, without further renewals. */
async function lastsFor(held: HeldLock, leaseMs: number): Promise<boolean> {
  stopWatchdog(held);
  return held.leftMs > leaseMs * 0.9 || held.extend(leaseMs);
}
