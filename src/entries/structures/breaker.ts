/**
 * Entry `oriel/breaker`.
 *
 * @module oriel/breaker
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/breaker.ts";
