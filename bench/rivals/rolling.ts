import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findPython } from "../../scripts/find-programs.mjs";

const SCRIPT = fileURLToPath(new URL("python/pandas_rolling.py", import.meta.url));

/** bottleneck has only the median. */
export type RollingLibrary = "pandas" | "bottleneck";

export interface RollingAnswer {
  nanosecondsPerSlide: number;
  /** The answers of at most three last slides. */
  answers: number[];
}

const pythonOf = (library: RollingLibrary) => findPython(`numpy, ${library}`);

/** Why a library cannot be used, or undefined when it can. */
export function rollingMissing(library: RollingLibrary): string | undefined {
  return pythonOf(library) ? undefined : `no Python with ${library}; \`npm test\` unpacks one, ORIEL_PYTHON names one`;
}

/** A percentile of every window of `events` values, as the library computes it in a process of its own. */
export async function rollingBy(
  library: RollingLibrary,
  values: Float32Array,
  events: number,
  percentile: number,
  repetitions: number,
): Promise<RollingAnswer> {
  if (library === "bottleneck" && percentile !== 50) throw new Error("bottleneck has no rolling percentile but p50");
  const python = pythonOf(library);
  if (!python) throw new Error(`${rollingMissing(library)}`);
  const folder = await mkdtemp(join(tmpdir(), "oriel-bench-"));
  try {
    const path = join(folder, "values");
    await writeFile(path, values);
    const fields = [library, path, values.length, events, percentile, repetitions].map(String);
    const { stdout } = await promisify(execFile)(python, [SCRIPT, ...fields]);
    return JSON.parse(stdout) as RollingAnswer;
  } finally {
    await rm(folder, { recursive: true });
  }
}
