// The kernel of `Series` for Cloudflare Workers.
import type { KernelCandidate } from "../../engine/kernel/choose.ts";
import type { RunKernel } from "../../engine/kernel/contract.ts";
import { moduleRuns } from "../../engine/kernel/module-kernel.ts";
import simd from "./runs.simd.wasm";

export const runs: KernelCandidate<RunKernel> = /* @__PURE__ */ moduleRuns("wasm-simd", simd);
