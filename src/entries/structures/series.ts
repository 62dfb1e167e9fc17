/**
 * Entry `oriel/series`.
 *
 * @module oriel/series
 */

export * from "../api/series.ts";
export { redisStore } from "../redis-store.ts";
