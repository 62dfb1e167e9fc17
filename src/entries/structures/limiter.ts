/**
 * Entry `oriel/limiter`.
 *
 * @module oriel/limiter
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/limiter.ts";
