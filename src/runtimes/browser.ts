// The recipe for browsers and whatever bundles for them: the kernels' bytes inside, no Node built-in, no TCP.
import { provideKernels } from "../kernel/choose.ts";
import { js } from "../kernel/js.ts";
import { wasmScalar } from "../kernel/wasm-scalar.ts";
import { wasmSimd } from "../kernel/wasm-simd.ts";

provideKernels([wasmSimd, wasmScalar, js]);

export * from "../api.ts";
export { redisStore } from "../store/redis-edge.ts";
