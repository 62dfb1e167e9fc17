/**
 * Entry `oriel` for Node and Bun. Kernels: WebAssembly with SIMD, else without, else JavaScript. Redis through ioredis.
 *
 * @module oriel
 */

import { provideBlocks } from "../engine/kernel/blocks/choose.ts";
import { blocks, kernels } from "../engine/kernel/built-in.ts";
import { provideKernels } from "../engine/kernel/choose.ts";
import { withUpkeep } from "../engine/series/session/given-upkeep.ts";
import { upkeep } from "../engine/series/session/upkeep.ts";

provideKernels(kernels);
provideBlocks(blocks);
withUpkeep(undefined, upkeep);

export { redisStore } from "./redis-store.ts";

// After the store, so that the shared file keeps the code of stores together, where gzip finds what repeats.

export * from "./api.ts";
