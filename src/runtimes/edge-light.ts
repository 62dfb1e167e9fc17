// The recipe for Vercel's edge runtime, which runs no WebAssembly but that of a file imported so; no TCP of its own.
import { provideKernels } from "../kernel/choose.ts";
import { givenKernel } from "../kernel/given.ts";
import { js } from "../kernel/js.ts";
import simd from "./kernels.simd.wasm?module";

provideKernels([givenKernel("wasm-simd", simd), js]);

export * from "../api.ts";
export { redisStore } from "../store/redis-edge.ts";
