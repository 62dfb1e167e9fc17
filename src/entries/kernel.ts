/**
 * Entry `oriel/kernel` with the kernels' bytes inside.
 *
 * @module oriel/kernel
 */

import { kernels } from "../engine/kernel/built-in.ts";
import { provideKernels } from "../engine/kernel/choose.ts";

provideKernels(kernels);

export * from "./kernel-api.ts";
