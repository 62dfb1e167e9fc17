import { unref } from "../../base/async/timers.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import type { TryLockOptions } from "../lock-options.ts";

/** The parts of a hold that `LockedWindow` and `DrainService` use. */
export interface AnyHeldLock {
  /** Null if the lock has no fences. */
  readonly fence: number | null;
  /** Aborts when the hold is lost. */
  readonly signal: AbortSignal;
  release(): Promise<unknown>;
}

/** A `Lock`, a `QuorumLock`, the write side of a `ReadWriteLock`, or a lock of your own. */
export interface AnyLock {
  /** True for a lock that several callers hold together, as readers do. Such a lock is refused. */
  readonly isShared?: boolean;
  tryLock(options?: TryLockOptions): Promise<AnyHeldLock | null>;
}

/** redis-semaphore's `Mutex` or `RedlockMutex`. Its own options decide how long it waits and how long its lease is. */
export interface LibraryMutex {
  tryAcquire(signal?: AbortSignal): Promise<boolean>;
  release(): Promise<void>;
  readonly isAcquired: boolean;
}

/** How often a mutex is asked whether it is still held. It has no event that others can listen to. */
const LOSS_POLL_MS = 100;

/** Returns a lock as it is, and a mutex as a lock without fences. Throws ARGUMENT for anything else. */
export function anyLock(lock: AnyLock | LibraryMutex): AnyLock {
  if (typeof (lock as AnyLock | undefined)?.tryLock === "function") {
    if (!(lock as AnyLock).isShared) return lock as AnyLock;
    throw argumentError(
      "lock",
      "the read side of a ReadWriteLock",
      "a lock that one caller holds, such as its write side",
    );
  }
  const mutex = lock as LibraryMutex | undefined;
  if (typeof mutex?.tryAcquire !== "function" || typeof mutex.isAcquired !== "boolean")
    throw argumentError("lock", lock, "a Lock, QuorumLock, write side of a ReadWriteLock, or Mutex of redis-semaphore");
  return {
    tryLock: async ({ signal } = {}) => ((await mutex.tryAcquire(signal)) ? heldOf(mutex) : null),
  };
}

function heldOf(mutex: LibraryMutex): AnyHeldLock {
  const lost = new AbortController();
  const timer = setInterval(() => {
    if (mutex.isAcquired) return;
    clearInterval(timer);
    lost.abort(new OrielError("LOST", "the mutex of redis-semaphore is lost"));
  }, LOSS_POLL_MS);
  unref(timer);
  return {
    fence: null,
    signal: lost.signal,
    release: () => {
      clearInterval(timer);
      return mutex.release();
    },
  };
}
