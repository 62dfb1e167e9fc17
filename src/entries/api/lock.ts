// Locks and permits.

export type { HeldLock } from "../../hold/held.ts";
export type { ForceReleaseOptions, LockOptions, TryLockOptions } from "../../hold/lock-options.ts";
export type { AnyHeldLock, AnyLock, LibraryMutex } from "../../lock/any-lock.ts";
export { Lock } from "../../lock/lock.ts";
export type { HeldLocks, LockSet } from "../../lock/lock-set.ts";
export type { LockState } from "../../lock/lock-state.ts";
export { type LockSide, ReadWriteLock } from "../../lock/read-write-lock.ts";
export { MultiSemaphore } from "../../semaphore/multi-semaphore.ts";
export type { Permit, PermitOptions, SemaphoreOptions, TryPermitOptions } from "../../semaphore/permit-calls.ts";
export { Semaphore } from "../../semaphore/semaphore.ts";
export * from "./stores.ts";
