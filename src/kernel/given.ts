import type { KernelCandidate } from "./choose.ts";
import type { KernelName } from "./contract.ts";
import { wasmKernel } from "./wasm/wasm.ts";
import { instantiate } from "./wasm/wasm-exports.ts";

/** A form whose module, or the bytes of it, a bundler or a caller has brought. */
export function givenKernel(name: KernelName, source: object): KernelCandidate {
  return { name, create: () => wasmKernel(name, instantiate(source)) };
}
