import { wasmBase64 } from "../../../generated/kernels.scalar.ts";
import type { Kernel } from "../contract.ts";
import { wasmKernel } from "./wasm.ts";
import { bytesOf, instantiate } from "./wasm-exports.ts";

/** The kernel for runtimes with WebAssembly but without SIMD. Compiled at `create`. */
export const wasmScalar = {
  name: "wasm-scalar",
  create: (): Kernel => wasmKernel("wasm-scalar", instantiate(bytesOf(wasmBase64))),
} as const;
