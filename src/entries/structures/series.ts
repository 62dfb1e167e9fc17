/**
 * Entry `oriel/series`.
 *
 * @module oriel/series
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/series.ts";
