// The kernels for Cloudflare Workers, which run WebAssembly only from an imported file. Every Worker has SIMD. The
// kernels in JavaScript (5.5 kB compressed) are only in `oriel/js` and `oriel/kernel`.
import type { KernelCandidate } from "../../engine/kernel/choose.ts";
import { moduleKernel } from "../../engine/kernel/module-kernel.ts";
import simd from "./kernels.simd.wasm";

export const kernels: readonly KernelCandidate[] = [/* @__PURE__ */ moduleKernel("wasm-simd", simd)];

/** Blocks are encoded and decoded in JavaScript here. */
export const blocks = undefined;
