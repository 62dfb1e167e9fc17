// Locks and permits.

export type { HeldLock } from "../../holds/held.ts";
export type { AnyHeldLock, AnyLock, LibraryMutex } from "../../holds/lock/any-lock.ts";
export { Lock } from "../../holds/lock/lock.ts";
export type { HeldLocks, LockSet } from "../../holds/lock/lock-set.ts";
export type { LockState } from "../../holds/lock/lock-state.ts";
export { type LockSide, ReadWriteLock } from "../../holds/lock/read-write-lock.ts";
export type { ForceReleaseOptions, LockOptions, TryLockOptions } from "../../holds/lock-options.ts";
export type { Permit, PermitOptions, SemaphoreOptions, TryPermitOptions } from "../../holds/semaphore/permit-calls.ts";
export { MultiSemaphore, Semaphore } from "../../holds/semaphore/semaphore.ts";
export * from "./stores.ts";
