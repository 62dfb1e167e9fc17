/**
 * Entry `oriel/dashboard`.
 *
 * @module oriel/dashboard
 */

export * from "../api/dashboard.ts";
export { redisStore } from "../redis-store.ts";
