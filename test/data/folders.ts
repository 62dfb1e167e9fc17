import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generate } from "./generate.mjs";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const REAL = at("../../../shared/data/");

export interface DataFolder {
  /** "generated" from a seed; "real": the files that those are modelled on, where they are at hand. */
  name: "generated" | "real";
  folder: string;
}

/** Folders with the same files; each test that reads files runs on every one. */
export const dataFolders: DataFolder[] = [
  { name: "generated", folder: `${generate(at("../../node_modules/.oriel/data"))}/` },
  ...(existsSync(REAL) ? [{ name: "real", folder: REAL } as const] : []),
];

/** Latencies of the demo's own server, recorded by record-demo.ts. */
export const DEMO_LATENCY = at("demo-latency.csv");
export const NUMPY_GOLDEN = at("numpy-golden.json");
