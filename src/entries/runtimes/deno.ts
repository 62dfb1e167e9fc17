// Entry `oriel` for Deno: the same as for Node, but no permission is required until it is used.
export { redisStore } from "../redis-store.ts";
export * from "./with-bytes.ts";
