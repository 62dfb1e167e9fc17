/**
 * Entry `oriel/fleet`.
 *
 * @module oriel/fleet
 */

export * from "../api/fleet.ts";
export { redisStore } from "../redis-store.ts";
