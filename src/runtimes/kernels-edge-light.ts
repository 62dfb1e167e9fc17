// The kernels for Vercel's edge runtime, which runs no WebAssembly but that of a file imported so.
import type { KernelCandidate } from "../kernel/choose.ts";
import { js } from "../kernel/js/js.ts";
import { moduleKernel } from "../kernel/module-kernel.ts";
import simd from "./kernels.simd.wasm?module";

export const kernels: readonly KernelCandidate[] = [/* @__PURE__ */ moduleKernel("wasm-simd", simd), js];
