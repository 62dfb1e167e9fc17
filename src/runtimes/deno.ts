// The recipe for Deno: as for Node, without anything that needs a permission before it is used.
import { provideKernels } from "../kernel/choose.ts";
import { js } from "../kernel/js.ts";
import { wasmScalar } from "../kernel/wasm-scalar.ts";
import { wasmSimd } from "../kernel/wasm-simd.ts";

provideKernels([wasmSimd, wasmScalar, js]);

export * from "../api.ts";
export { redisStore } from "../store/redis-deno.ts";
