/**
 * Entry `oriel/kernel` with the kernels' bytes inside.
 *
 * @module oriel/kernel
 */

import { kernels } from "../kernel/built-in.ts";
import { provideKernels } from "../kernel/choose.ts";

provideKernels(kernels);

export * from "./kernel-api.ts";
