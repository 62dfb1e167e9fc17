/**
 * Entry `oriel/queue`.
 *
 * @module oriel/queue
 */

export * from "../api/queue.ts";
export { redisStore } from "../redis-store.ts";
