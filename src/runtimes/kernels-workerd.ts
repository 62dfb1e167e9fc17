// The kernels for Cloudflare Workers, which run no WebAssembly but that of a file imported. Every Worker
// has SIMD. The kernels in JavaScript, 5.5 kB compressed, come with `oriel/js` and `oriel/kernel` only.
import type { KernelCandidate } from "../kernel/choose.ts";
import { moduleKernel } from "../kernel/module-kernel.ts";
import simd from "./kernels.simd.wasm";

export const kernels: readonly KernelCandidate[] = [/* @__PURE__ */ moduleKernel("wasm-simd", simd)];
