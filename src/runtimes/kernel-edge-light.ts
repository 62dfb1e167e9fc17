// Entry `oriel/kernel` for Vercel's edge runtime.
import { provideKernels } from "../kernel/choose.ts";
import { kernels } from "./kernels-edge-light.ts";

provideKernels(kernels);

export * from "../entries/kernel-api.ts";
