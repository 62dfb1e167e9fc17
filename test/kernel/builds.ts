import type { Kernel } from "../../src/engine/kernel/contract.ts";
import { js } from "../../src/engine/kernel/js/js.ts";
import { wasmScalar } from "../../src/engine/kernel/wasm/wasm-scalar.ts";
import { wasmSimd } from "../../src/engine/kernel/wasm/wasm-simd.ts";

/** Every form, made by its own candidate, so that no form stands in for another. */
export const BUILDS: readonly Kernel[] = [wasmSimd, wasmScalar, js].map((candidate) => candidate.create());
