import { OrielError, show } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import type { Kernel, KernelName, RunKernel } from "./contract.ts";
import { selfTest, testRuns } from "./self-test.ts";

/** A kernel that an entry provides. `create` compiles it, and throws if the runtime does not support or allow that. */
export interface KernelCandidate<K extends RunKernel = Kernel> {
  readonly name: KernelName;
  create(): K;
}

/** Best first. */
const PREFERENCE: readonly KernelName[] = ["wasm-simd", "wasm-scalar", "js"];

const candidates = new Map<KernelName, KernelCandidate>();
let chosen: Kernel | null = null;
/** `activeKernel` where a kernel is provided. A bundle without one drops that function, and its self-test. */
let active: (() => Kernel) | undefined;
const runCandidates = new Map<KernelName, KernelCandidate<RunKernel>>();
let chosenRuns: RunKernel | undefined;

/** Called by entry files, which know what their runtime can compile. If a name is provided twice, the first counts. */
export function provideKernels(offered: readonly KernelCandidate[]): void {
  active = activeKernel;
  for (const candidate of offered) if (!candidates.has(candidate.name)) candidates.set(candidate.name, candidate);
}

/**
 * Provides `kernels`, and returns `user`. Callers mark the call as pure. A bundler then drops an unused `user` together
 * with its kernels, so that the bundle of a limiter has none.
 */
export function withKernels<User>(user: User, kernels: readonly KernelCandidate[]): User {
  provideKernels(kernels);
  return user;
}

/** The same for a user that needs a kernel for sorted runs alone. */
export function withRunKernel<User>(user: User, candidate: KernelCandidate<RunKernel>): User {
  runCandidates.set(candidate.name, candidate);
  return user;
}

/** Replaces the active kernel. If the candidate fails, throws KERNEL and changes nothing. */
export function useKernel(candidate: KernelCandidate): void {
  chosen = started(candidate, selfTest);
  active = activeKernel;
  candidates.set(candidate.name, candidate);
}

/**
 * The active kernel. The first call chooses it: the one named in ORIEL_KERNEL, otherwise the first that compiles and
 * passes its self-test. Throws KERNEL if the named one fails, or if none works.
 */
export function activeKernel(): Kernel {
  chosen ??= choose(candidates, selfTest);
  return chosen;
}

/** The active kernel; where only one for sorted runs is provided, that one. Throws as `activeKernel` does. */
export function runKernel(): RunKernel {
  if (active) return active();
  chosenRuns ??= choose(runCandidates, testRuns);
  return chosenRuns;
}

/** Sets the active kernel; null: the next use chooses again. If it fails, throws KERNEL and changes nothing. */
export function forceKernel(name: KernelName | null): void {
  chosen = atSite("forceKernel", () => (name === null ? null : create(candidates, name, selfTest)));
}

type Candidates<K extends RunKernel> = ReadonlyMap<KernelName, KernelCandidate<K>>;

function choose<K extends RunKernel>(from: Candidates<K>, test: (kernel: K) => void): K {
  const named = nameFromEnvironment();
  return named === undefined ? firstThatWorks(from, test) : create(from, named, test);
}

function firstThatWorks<K extends RunKernel>(from: Candidates<K>, test: (kernel: K) => void): K {
  const reasons: string[] = [];
  for (const name of PREFERENCE) {
    if (!from.has(name)) continue;
    try {
      return create(from, name, test);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new OrielError(
    "KERNEL",
    reasons.length === 0
      ? "no kernel was provided: oriel/slim needs init(...) first; the package's other entries include kernels"
      : `no kernel works here: ${reasons.join("; ")}`,
  );
}

function create<K extends RunKernel>(from: Candidates<K>, name: string, test: (kernel: K) => void): K {
  const candidate = from.get(name as KernelName);
  if (candidate === undefined) {
    const known = [...from.keys()].join(", ") || "none";
    throw new OrielError("KERNEL", `kernel ${show(name)} is not available; provided here: ${known}`);
  }
  return started(candidate, test);
}

function started<K extends RunKernel>(candidate: KernelCandidate<K>, test: (kernel: K) => void): K {
  try {
    const kernel = candidate.create();
    test(kernel);
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

/** Edge runtimes have no `process`. In Deno, reading a variable without permission would prompt the user. */
function nameFromEnvironment(): string | undefined {
  const { process, Deno } = globalThis as Global;
  const permission = Deno?.permissions.querySync({ name: "env", variable: "ORIEL_KERNEL" }).state;
  if (permission !== undefined && permission !== "granted") return undefined;
  return process?.env?.ORIEL_KERNEL || undefined;
}
