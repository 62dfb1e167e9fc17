/**
 * Entry `oriel/queue`.
 *
 * @module oriel/queue
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/queue.ts";
