import { fileURLToPath } from "node:url";
import { findPython } from "../../../scripts/find-programs.mjs";
import { PythonProcess } from "./python-process.ts";

const SCRIPT = fileURLToPath(new URL("numpy_hot.py", import.meta.url));

/**
 * `p1` is a two-sided time mask, trim, then count, sum, mean and p99. `p2` is count, sum, mean, min, max, std, p50, p90 and p99.
 * `partition` and `sort` find the two values around p99, without a mask.
 */
export type NumpyRun = "p1" | "p2" | "partition" | "sort";

export interface NumpyAnswer {
  nanoseconds: number;
  answers: number[];
}

const python = findPython("numpy");

/** Why NumPy cannot be used, or undefined when it can. */
export function numpyMissing(): string | undefined {
  return python ? undefined : "no Python with NumPy; `npm test` unpacks one, ORIEL_PYTHON names one";
}

/** NumPy in its own process with loaded columns. Times are measured inside it, without the round trip. */
export class NumpyProcess {
  readonly #python = new PythonProcess(python!, SCRIPT);

  load(times: BigInt64Array, values: Float32Array): Promise<void> {
    return this.#python.load([times, values], times.length);
  }

  run(run: NumpyRun, fromMs: number, toMs: number, repetitions: number): Promise<NumpyAnswer> {
    return this.#python.ask({ run, from: fromMs, to: toMs, repetitions }) as Promise<NumpyAnswer>;
  }

  close(): void {
    this.#python.close();
  }
}
