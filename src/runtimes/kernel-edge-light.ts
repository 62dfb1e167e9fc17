// Entry `oriel/kernel` for Vercel's edge runtime, which runs no WebAssembly but that of a file imported so.
import { provideKernels } from "../kernel/choose.ts";
import { givenKernel } from "../kernel/given.ts";
import { js } from "../kernel/js.ts";
import simd from "./kernels.simd.wasm?module";

provideKernels([givenKernel("wasm-simd", simd), js]);

export * from "../kernel-api.ts";
