import type { KernelCandidate } from "./choose.ts";
import type { KernelName, RunKernel } from "./contract.ts";
import { wasmKernel } from "./wasm/wasm.ts";
import { instantiate } from "./wasm/wasm-exports.ts";
import { wasmRuns } from "./wasm/wasm-runs.ts";

/** A kernel from a compiled module, or from its bytes, which a bundler or a caller passes. */
export function moduleKernel(name: KernelName, source: object): KernelCandidate {
  return { name, create: () => wasmKernel(name, instantiate(source)) };
}

/** The same from the module `runs.simd.wasm`, for sorted runs alone. */
export function moduleRuns(name: KernelName, source: object): KernelCandidate<RunKernel> {
  return { name, create: () => wasmRuns(name, instantiate(source)) };
}
