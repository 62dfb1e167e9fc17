import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findPython } from "../../../scripts/find-programs.mjs";

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
  readonly #python: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #complaint = "";

  constructor() {
    this.#python = spawn(python!, [SCRIPT]);
    this.#lines = createInterface({ input: this.#python.stdout })[Symbol.asyncIterator]();
    this.#python.stderr.on("data", (bytes: Buffer) => {
      this.#complaint += bytes;
    });
    this.#python.stdin.on("error", () => {}); // the missing answer says more than the broken pipe
    this.#python.on("error", () => {});
  }

  /** Passes the columns in a file, so that both sides work on the same bytes. */
  async load(times: BigInt64Array, values: Float32Array): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), "oriel-bench-"));
    try {
      const path = join(folder, "columns");
      await writeFile(path, times);
      await writeFile(path, values, { flag: "a" });
      await this.#ask({ load: path, count: times.length });
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  run(run: NumpyRun, fromMs: number, toMs: number, repetitions: number): Promise<NumpyAnswer> {
    return this.#ask({ run, from: fromMs, to: toMs, repetitions }) as Promise<NumpyAnswer>;
  }

  close(): void {
    this.#python.stdin.end();
  }

  async #ask(request: object): Promise<unknown> {
    this.#python.stdin.write(`${JSON.stringify(request)}\n`);
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(`python3 ended without an answer: ${this.#complaint}`);
    return JSON.parse(value);
  }
}
