/**
 * Entry `oriel/lock`.
 *
 * @module oriel/lock
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/lock.ts";
