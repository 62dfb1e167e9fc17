// Entry `oriel/kernel` with the kernels' bytes inside.
import { builtIn } from "../kernel/built-in.ts";
import { provideKernels } from "../kernel/choose.ts";

provideKernels(builtIn);

export * from "./kernel-api.ts";
