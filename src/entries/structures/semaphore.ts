/**
 * Entry `oriel/semaphore`. Locks and semaphores of several servers need the package redis-semaphore, and Node.
 *
 * @module oriel/semaphore
 */

export type { QuorumClient } from "../../holds/semaphore/quorum.ts";
export { QuorumLock } from "../../holds/semaphore/quorum-lock.ts";
export { QuorumSemaphore } from "../../holds/semaphore/quorum-semaphore.ts";
export * from "../api/lock.ts";
export { redisStore } from "../redis-store.ts";
