/**
 * Entry `oriel/lock`.
 *
 * @module oriel/lock
 */

export * from "../api/lock.ts";
export { redisStore } from "../redis-store.ts";
