import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A Python program that answers each line of JSON with one. */
export class PythonProcess {
  readonly #python: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #complaint = "";

  constructor(python: string, script: string, fields: readonly string[] = []) {
    this.#python = spawn(python, [script, ...fields]);
    this.#lines = createInterface({ input: this.#python.stdout })[Symbol.asyncIterator]();
    this.#python.stderr.on("data", (bytes: Buffer) => {
      this.#complaint += bytes;
    });
    this.#python.stdin.on("error", () => {}); // the missing answer says more than the broken pipe
    this.#python.on("error", () => {});
  }

  /** Passes columns in one file, one after the other, so that both sides work on the same bytes. */
  async load(columns: readonly NodeJS.ArrayBufferView[], count: number): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), "oriel-bench-"));
    try {
      const path = join(folder, "columns");
      for (const column of columns) await writeFile(path, column, { flag: "a" });
      await this.ask({ load: path, count });
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async ask(request: object): Promise<unknown> {
    this.#python.stdin.write(`${JSON.stringify(request)}\n`);
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(`python3 ended without an answer: ${this.#complaint}`);
    return JSON.parse(value);
  }

  close(): void {
    this.#python.stdin.end();
  }
}
