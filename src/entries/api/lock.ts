// Locks.

export type { HeldLock } from "../../lock/held.ts";
export { Lock } from "../../lock/lock.ts";
export type { LockOptions, TryLockOptions } from "../../lock/lock-options.ts";
export * from "./stores.ts";
