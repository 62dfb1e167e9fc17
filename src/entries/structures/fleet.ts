/**
 * Entry `oriel/fleet`.
 *
 * @module oriel/fleet
 */

export { redisStore } from "../../store/redis/redis.ts";
export * from "../api/fleet.ts";
