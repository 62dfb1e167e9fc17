// Entry `oriel` for browsers and their bundlers. It contains the kernels' bytes, uses no Node built-in and has no TCP.
export { redisStore } from "../../store/redis/redis-edge.ts";
export * from "./with-bytes.ts";
