/**
 * Entry `oriel/breaker`.
 *
 * @module oriel/breaker
 */

export * from "../api/breaker.ts";
export { redisStore } from "../redis-store.ts";
