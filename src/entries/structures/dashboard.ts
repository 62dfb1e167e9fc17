/**
 * Entry `oriel/dashboard`.
 *
 * @module oriel/dashboard
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/dashboard.ts";
