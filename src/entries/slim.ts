// Entry `oriel/slim`: without the kernels' bytes. The caller passes their location to `init`.

export { init, initSync, type KernelSource } from "../kernel/init.ts";
export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./api.ts";
