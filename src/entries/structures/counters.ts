/**
 * Entry `oriel/counters`.
 *
 * @module oriel/counters
 */

export * from "../api/counters.ts";
export { redisStore } from "../redis-store.ts";
