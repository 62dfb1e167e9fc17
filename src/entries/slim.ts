// The recipe without bytes: the caller says where the kernels are.

export { init, initSync, type KernelSource } from "../kernel/init.ts";
export { redisStore } from "../store/redis/redis-edge.ts";
export * from "./api.ts";
