/**
 * Entry `oriel/limiter`.
 *
 * @module oriel/limiter
 */

export * from "../api/limiter.ts";
export { redisStore } from "../redis-store.ts";
