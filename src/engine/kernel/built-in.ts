import { wasmCodec } from "./blocks/wasm-codec.ts";
import type { KernelCandidate } from "./choose.ts";
import { js } from "./js/js.ts";
import { wasmScalar } from "./wasm/wasm-scalar.ts";
import { wasmSimd } from "./wasm/wasm-simd.ts";

/** All kernels. The WebAssembly ones include their bytes. */
export const kernels: readonly KernelCandidate[] = [wasmSimd, wasmScalar, js];

/** Starts the codec of blocks in WebAssembly, and includes its bytes. */
export const blocks = wasmCodec;
