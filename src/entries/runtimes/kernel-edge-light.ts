// Entry `oriel/kernel` for Vercel's edge runtime.
import { provideKernels } from "../../engine/kernel/choose.ts";
import { kernels } from "./kernels-edge-light.ts";

provideKernels(kernels);

export * from "../kernel-api.ts";
