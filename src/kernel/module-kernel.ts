import type { KernelCandidate } from "./choose.ts";
import type { KernelName } from "./contract.ts";
import { wasmKernel } from "./wasm/wasm.ts";
import { instantiate } from "./wasm/wasm-exports.ts";

/** A kernel from a compiled module, or from its bytes, which a bundler or a caller passes. */
export function moduleKernel(name: KernelName, source: object): KernelCandidate {
  return { name, create: () => wasmKernel(name, instantiate(source)) };
}
