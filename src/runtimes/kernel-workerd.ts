// Entry `oriel/kernel` for Cloudflare Workers, which run no WebAssembly but that of a file imported.
import { provideKernels } from "../kernel/choose.ts";
import { givenKernel } from "../kernel/given.ts";
import { js } from "../kernel/js.ts";
import simd from "./kernels.simd.wasm";

provideKernels([givenKernel("wasm-simd", simd), js]);

export * from "../kernel-api.ts";
