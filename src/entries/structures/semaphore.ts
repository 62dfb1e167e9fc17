/**
 * Entry `oriel/semaphore`, for Node: it needs the package redis-semaphore.
 *
 * @module oriel/semaphore
 */

export type { HeldLock } from "../../hold/held.ts";
export type { LockOptions, TryLockOptions } from "../../hold/lock-options.ts";
export { MultiSemaphore } from "../../semaphore/multi-semaphore.ts";
export type { SemaphoreOptions } from "../../semaphore/options.ts";
export type { AcquireOptions, Permit, TryAcquireOptions } from "../../semaphore/permit-calls.ts";
export { QuorumLock } from "../../semaphore/quorum-lock.ts";
export { Semaphore } from "../../semaphore/semaphore.ts";
export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/stores.ts";
