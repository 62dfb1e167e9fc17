/**
 * Entry `oriel` for Node and Bun. Kernels: WebAssembly with SIMD, else without, else JavaScript. Redis through ioredis.
 *
 * @module oriel
 */

import { provideBlocks } from "../kernel/blocks/choose.ts";
import { blocks, kernels } from "../kernel/built-in.ts";
import { provideKernels } from "../kernel/choose.ts";

provideKernels(kernels);
provideBlocks(blocks);

export { redisStore } from "../store/redis/redis.ts";
export * from "./api.ts";
