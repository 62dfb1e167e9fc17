// The recipe for Deno: as for Node, without anything that needs a permission before it is used.
export { redisStore } from "../store/redis/redis.ts";
export * from "./with-bytes.ts";
