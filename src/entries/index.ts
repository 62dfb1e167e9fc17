// The recipe for Node and Bun: SIMD, else scalar WebAssembly, else JavaScript; Redis through ioredis.
import { kernels } from "../kernel/built-in.ts";
import { provideKernels } from "../kernel/choose.ts";

provideKernels(kernels);

export { redisStore } from "../store/redis/redis.ts";
export * from "./api.ts";
