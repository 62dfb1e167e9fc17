import { forceKernel, type KernelName, kernel } from "../../entries/kernel.ts";
import type { Check } from "../../operate/doctor/check.ts";
import { oneLine } from "../text/safe-text.ts";

const name = "kernel";
/** Fastest first. */
const FASTEST: readonly KernelName[] = ["wasm-simd", "wasm-scalar", "js"];

/** The kernel that computes statistics here, and whether a faster one works here. ORIEL_KERNEL names another. */
export function kernelCheck(): Check {
  let used: KernelName;
  try {
    used = kernel.name;
  } catch (error) {
    const advice = "Unset ORIEL_KERNEL, or name wasm-simd, wasm-scalar or js.";
    return { name, verdict: "unusable", text: oneLine((error as Error).message), advice };
  }
  const possible = FASTEST.find(works) ?? used;
  forceKernel(null);
  const facts = { used, possible };
  if (used !== possible)
    return {
      name,
      verdict: "degraded",
      text: `this process computes with ${used}; ${possible} works here, too, and is faster`,
      advice: "Unset ORIEL_KERNEL.",
      facts,
    };
  if (used === FASTEST[0])
    return { name, verdict: "good", text: `this process computes with ${used}, the fastest kernel`, facts };
  return {
    name,
    verdict: "degraded",
    text: `this process computes with ${used}, because faster kernels do not work in this runtime`,
    advice: "Use a runtime with WebAssembly SIMD, and allow WebAssembly.",
    facts,
  };
}

function works(candidate: KernelName): boolean {
  try {
    forceKernel(candidate);
    return true;
  } catch {
    return false;
  }
}
