// The recipe for Node and Bun: SIMD, else scalar WebAssembly, else JavaScript; Redis through ioredis.
import { builtIn } from "../kernel/built-in.ts";
import { provideKernels } from "../kernel/choose.ts";

provideKernels(builtIn);

export { redisStore } from "../store/redis/redis.ts";
export * from "./api.ts";
