import { wasmBase64 } from "../../../generated/kernels.simd.ts";
import type { Kernel } from "../contract.ts";
import { wasmKernel } from "./wasm.ts";
import { bytesOf, instantiate } from "./wasm-exports.ts";

/** The kernel with 128-bit SIMD, which the runtime must support. Compiled at `create`. */
export const wasmSimd = {
  name: "wasm-simd",
  create: (): Kernel => wasmKernel("wasm-simd", instantiate(bytesOf(wasmBase64))),
} as const;
