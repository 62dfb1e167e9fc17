import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findPython } from "../../scripts/find-programs.mjs";

const SCRIPT = fileURLToPath(new URL("python/buckets.py", import.meta.url));

/** DuckDB gets its table from pandas. */
export const PACKAGES = { pandas: "numpy, pandas", duckdb: "numpy, pandas, duckdb" } as const;
export type BucketLibrary = keyof typeof PACKAGES;

export interface BucketAnswer {
  /** The median of the repetitions. */
  ms: number;
  /** Of each bucket, the oldest first. */
  counts: number[];
  p99s: number[];
}

/** Events with their times, and the buckets that are asked for. */
export interface Bucketed {
  values: Float32Array;
  /** ms since 1970, ascending. */
  times: Float64Array;
  toMs: number;
  everyMs: number;
}

/** Why a library cannot be used, or undefined when it can. */
export function bucketsMissing(library: BucketLibrary): string | undefined {
  return findPython(PACKAGES[library]) ? undefined : `no Python with ${library}; ORIEL_PYTHON names one`;
}

/** The statistics of each bucket, as the library computes them in a process of its own, from events in its memory. */
export async function bucketsBy(
  library: BucketLibrary,
  { values, times, toMs, everyMs }: Bucketed,
  repetitions: number,
): Promise<BucketAnswer> {
  const python = findPython(PACKAGES[library]);
  if (!python) throw new Error(`${bucketsMissing(library)}`);
  const folder = await mkdtemp(join(tmpdir(), "oriel-bench-"));
  try {
    const [valuesPath, timesPath] = [join(folder, "values"), join(folder, "times")];
    await Promise.all([writeFile(valuesPath, values), writeFile(timesPath, times)]);
    const fields = [library, valuesPath, timesPath, toMs, everyMs, repetitions].map(String);
    const { stdout } = await promisify(execFile)(python, [SCRIPT, ...fields]);
    return JSON.parse(stdout) as BucketAnswer;
  } finally {
    await rm(folder, { recursive: true });
  }
}
