// The recipe for browsers and whatever bundles for them: the kernels' bytes inside, no Node built-in, no TCP.
export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./with-bytes.ts";
