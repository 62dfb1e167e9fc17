// The recipe for Cloudflare Workers, which run no WebAssembly but that of a file imported; no TCP of its own.
import { provideKernels } from "../kernel/choose.ts";
import { givenKernel } from "../kernel/given.ts";
import { js } from "../kernel/js.ts";
import simd from "./kernels.simd.wasm";

provideKernels([givenKernel("wasm-simd", simd), js]);

export * from "../api.ts";
export { redisStore } from "../store/redis-edge.ts";
