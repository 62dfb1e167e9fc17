import { OrielError, show } from "../errors.ts";
import { placed } from "../place.ts";
import type { Kernel, KernelName } from "./contract.ts";
import { selfTest } from "./self-test.ts";

/** One form of the kernels that an entry offers. `create` compiles; it may throw where the runtime cannot or may not. */
export interface KernelCandidate {
  readonly name: KernelName;
  create(): Kernel;
}

/** Best first. */
const PREFERENCE: readonly KernelName[] = ["wasm-simd", "wasm-scalar", "js"];

const candidates = new Map<KernelName, KernelCandidate>();
let chosen: Kernel | null = null;

/** Called by entry files, which alone know what a runtime may compile. A form offered twice is kept as first offered. */
export function provideKernels(offered: readonly KernelCandidate[]): void {
  for (const candidate of offered) if (!candidates.has(candidate.name)) candidates.set(candidate.name, candidate);
}

/** Uses this form from now on, whatever was in use. KERNEL, and nothing changed, when it fails. */
export function useKernel(candidate: KernelCandidate): void {
  chosen = started(candidate);
  candidates.set(candidate.name, candidate);
}

/**
 * The kernel in use: chosen at the first call (the one named in ORIEL_KERNEL, else the first that compiles and passes
 * its self-test) and kept. KERNEL when a named one fails, or none is left.
 */
export function activeKernel(): Kernel {
  if (chosen === null) {
    const named = nameFromEnvironment();
    chosen = named === undefined ? firstThatWorks() : create(named);
  }
  return chosen;
}

/** Uses this form from now on; null: chooses anew at the next use. KERNEL, and nothing changed, when it is not to be had. */
export function forceKernel(name: KernelName | null): void {
  chosen = placed("forceKernel", () => (name === null ? null : create(name)));
}

function firstThatWorks(): Kernel {
  const reasons: string[] = [];
  for (const name of PREFERENCE) {
    if (!candidates.has(name)) continue;
    try {
      return create(name);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new OrielError(
    "KERNEL",
    reasons.length === 0
      ? "no kernel was provided: oriel/slim needs init(...) first; the package's other entries bring their own"
      : `no kernel works here: ${reasons.join("; ")}`,
  );
}

function create(name: string): Kernel {
  const candidate = candidates.get(name as KernelName);
  if (candidate === undefined) {
    const known = [...candidates.keys()].join(", ") || "none";
    throw new OrielError("KERNEL", `kernel ${show(name)} is not available; provided here: ${known}`);
  }
  return started(candidate);
}

function started(candidate: KernelCandidate): Kernel {
  try {
    const kernel = candidate.create();
    selfTest(kernel);
    return kernel;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new OrielError("KERNEL", `kernel ${candidate.name} failed: ${reason}`, { cause });
  }
}

interface Global {
  process?: { env?: Record<string, string | undefined> };
  Deno?: { permissions: { querySync(wanted: object): { state: string } } };
}

/** There is no `process` at the edge; Deno lets nobody see a variable without permission, and must not be made to ask for it. */
function nameFromEnvironment(): string | undefined {
  const { process, Deno } = globalThis as Global;
  const permission = Deno?.permissions.querySync({ name: "env", variable: "ORIEL_KERNEL" }).state;
  if (permission !== undefined && permission !== "granted") return undefined;
  return process?.env?.ORIEL_KERNEL || undefined;
}
