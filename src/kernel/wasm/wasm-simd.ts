import { wasmBase64 } from "../../generated/kernels.simd.ts";
import type { Kernel } from "../contract.ts";
import { wasmKernel } from "./wasm.ts";
import { bytesOf, instantiate } from "./wasm-exports.ts";

/** The form with 128-bit vectors; the runtime must know them. Compiled at `create`, not before. */
export const wasmSimd = {
  name: "wasm-simd",
  create: (): Kernel => wasmKernel("wasm-simd", instantiate(bytesOf(wasmBase64))),
} as const;
