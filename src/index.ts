// The recipe for Node, Deno and Bun: SIMD, else scalar WebAssembly, else JavaScript; Redis through ioredis.
import { provideKernels } from "./kernel/choose.ts";
import { js } from "./kernel/js.ts";
import { wasmScalar } from "./kernel/wasm-scalar.ts";
import { wasmSimd } from "./kernel/wasm-simd.ts";

provideKernels([wasmSimd, wasmScalar, js]);

export * from "./api.ts";
export { redisStore } from "./store/redis.ts";
