import type { KernelName } from "../../src/kernel/contract.ts";
import { pairwise, type Row } from "./pairs.ts";
import { servers, withFunctions, withReplicas } from "./servers.ts";
import { type StructureName, structures } from "./structures.ts";

/** One row of the matrix: where a suite runs, and the options it gives to all that it makes unless it says otherwise. */
export interface MatrixRow {
  name: string;
  store: string;
  scripting: "eval" | "functions";
  kernel: KernelName;
  modes: Record<string, unknown>;
}

/** Every kernel in memory; of the others one each, for kernels see columns only, whichever bytes fill them. */
const KERNELS: Record<string, KernelName> = {
  ...{ "ioredis 6": "wasm-simd", "node-redis 5": "wasm-simd", Valkey: "wasm-simd" },
  ...{ "ioredis 5": "js", HTTP: "js", "cluster, node-redis 5": "js", "cluster, ioredis 6": "wasm-scalar" },
};

/** Also where nothing but memory is at hand. */
export const storeNames = Object.keys(servers);

export function dimensionsOf(structure: StructureName): Record<string, readonly string[]> {
  const { modes, hasKernel } = structures[structure];
  return {
    store: storeNames,
    scripting: ["eval", "functions"],
    ...(hasKernel && { kernel: ["wasm-simd", "wasm-scalar", "js"] }),
    ...Object.fromEntries(
      Object.entries(modes).map(([name, values]) => [name, values.map((value) => JSON.stringify(value))]),
    ),
  };
}

export function isPossible({ store = "", scripting, replicas = "0", kernel }: Row): boolean {
  if (kernel && store !== "memory" && kernel !== KERNELS[store]) return false;
  return (scripting === "eval" || withFunctions(store)) && (replicas === "0" || withReplicas(store));
}

/** Rows that cross every value of every dimension with every value of every other one. */
export function rowsOf(structure: StructureName): MatrixRow[] {
  return pairwise(dimensionsOf(structure), isPossible).map((row) => {
    const { store = "", scripting, kernel = "wasm-simd", ...modes } = row;
    return {
      name: Object.entries(row)
        .map(([dimension, value]) => (/^(store|scripting|kernel)$/.test(dimension) ? value : `${dimension} ${value}`))
        .join(", "),
      store,
      scripting: scripting as MatrixRow["scripting"],
      kernel: kernel as KernelName,
      modes: Object.fromEntries(Object.entries(modes).map(([name, value]) => [name, JSON.parse(value) ?? undefined])),
    };
  });
}
