// The recipe without bytes: the caller says where the kernels are.
export * from "./api.ts";
export { init, initSync, type KernelSource } from "./kernel/init.ts";
export { redisStore } from "./store/redis-edge.ts";
