// The kernel of `Series` for Cloudflare Workers.
import type { KernelCandidate } from "../kernel/choose.ts";
import type { RunKernel } from "../kernel/contract.ts";
import { moduleRuns } from "../kernel/module-kernel.ts";
import simd from "./runs.simd.wasm";

export const runs: KernelCandidate<RunKernel> = /* @__PURE__ */ moduleRuns("wasm-simd", simd);
