import type { KernelName } from "../../src/engine/kernel/contract.ts";
import { isFew } from "../harness/rows.ts";
import { fewestWithEachValue, pairwise, type Row } from "./pairs.ts";
import { servers, withFunctions, withReplicas } from "./servers.ts";
import { type StructureName, structures } from "./structures.ts";

/** One row of the matrix: the store of a suite, and the default options of its structures. */
export interface MatrixRow {
  name: string;
  store: string;
  scripting: "eval" | "functions";
  kernel: KernelName;
  modes: Record<string, unknown>;
}

/** Every kernel in memory, and one in each other store, since kernels see only columns. */
const KERNELS: Record<string, KernelName> = {
  ...{ "ioredis 6": "wasm-simd", "node-redis 6": "wasm-simd", Valkey: "wasm-simd" },
  ...{
    "ioredis 5": "js",
    "node-redis 5": "js",
    HTTP: "js",
    "cluster, node-redis 6": "js",
    "cluster, ioredis 6": "wasm-scalar",
  },
};

/** Also without any server. */
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
  if (kernel && store !== "memory" && kernel !== (KERNELS[store] ?? "wasm-simd")) return false;
  return (scripting === "eval" || withFunctions(store)) && (replicas === "0" || withReplicas(store));
}

/** Rows that pair every value of every dimension with every value of every other one. */
export function rowsOf(structure: StructureName): MatrixRow[] {
  return pairwise(dimensionsOf(structure), isPossible).map(toMatrixRow);
}

/**
 * The rows that a suite runs over. `npm test` takes few rows of few stores, which have each value. `npm run test:all` takes all,
 * or the rest of them where `npm test` has passed on the same files.
 */
export function wantedRowsOf(structure: StructureName): MatrixRow[] {
  const all = pairwise(dimensionsOf(structure), isPossible);
  const { ORIEL_ROWS } = process.env;
  const few = fewestWithEachValue(all.filter(({ store = "" }) => isFew(store)));
  return all.filter((row) => ORIEL_ROWS === undefined || few.includes(row) === (ORIEL_ROWS === "few")).map(toMatrixRow);
}

function toMatrixRow(row: Row): MatrixRow {
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
}
