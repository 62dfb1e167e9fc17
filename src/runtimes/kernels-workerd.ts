// The kernels for Cloudflare Workers, which run no WebAssembly but that of a file imported.
import type { KernelCandidate } from "../kernel/choose.ts";
import { givenKernel } from "../kernel/given.ts";
import { js } from "../kernel/js/js.ts";
import simd from "./kernels.simd.wasm";

export const kernels: readonly KernelCandidate[] = [/* @__PURE__ */ givenKernel("wasm-simd", simd), js];
