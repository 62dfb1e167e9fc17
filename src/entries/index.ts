/**
 * Entry `oriel` for Node and Bun. Kernels: WebAssembly with SIMD, else without, else JavaScript. Redis through ioredis.
 *
 * @module oriel
 */

import { kernels } from "../kernel/built-in.ts";
import { provideKernels } from "../kernel/choose.ts";

provideKernels(kernels);

export { redisStore } from "../store/redis/redis.ts";
export * from "./api.ts";
