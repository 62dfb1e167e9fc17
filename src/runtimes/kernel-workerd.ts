// Entry `oriel/kernel` for Cloudflare Workers.
import { provideKernels } from "../kernel/choose.ts";
import { kernels } from "./kernels-workerd.ts";

provideKernels(kernels);

export * from "../entries/kernel-api.ts";
