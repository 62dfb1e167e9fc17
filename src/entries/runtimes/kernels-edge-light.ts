// The kernels for Vercel's edge runtime, which runs WebAssembly only from a file imported in this way.
import type { KernelCandidate } from "../../engine/kernel/choose.ts";
import { js } from "../../engine/kernel/js/js.ts";
import { moduleKernel } from "../../engine/kernel/module-kernel.ts";
import simd from "./kernels.simd.wasm?module";

export const kernels: readonly KernelCandidate[] = [/* @__PURE__ */ moduleKernel("wasm-simd", simd), js];

/** Blocks are encoded and decoded in JavaScript here. */
export const blocks = undefined;
