/**
 * Entry `oriel/counters`.
 *
 * @module oriel/counters
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/counters.ts";
