// Locks.

export type { AnyHeldLock, AnyLock, LibraryMutex } from "../../lock/any-lock.ts";
export type { HeldLock } from "../../lock/held.ts";
export { Lock } from "../../lock/lock.ts";
export type { ForceReleaseOptions, LockOptions, TryLockOptions } from "../../lock/lock-options.ts";
export type { HeldLocks, LockSet } from "../../lock/lock-set.ts";
export type { LockState } from "../../lock/lock-state.ts";
export { type LockSide, ReadWriteLock } from "../../lock/read-write-lock.ts";
export * from "./stores.ts";
