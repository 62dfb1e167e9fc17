// Entry `oriel/kernel` with the kernels' bytes inside.
import { provideKernels } from "./kernel/choose.ts";
import { js } from "./kernel/js.ts";
import { wasmScalar } from "./kernel/wasm-scalar.ts";
import { wasmSimd } from "./kernel/wasm-simd.ts";

provideKernels([wasmSimd, wasmScalar, js]);

export * from "./kernel-api.ts";
