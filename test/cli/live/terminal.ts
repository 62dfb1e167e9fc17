import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { builtProgram } from "../../harness/built-program.ts";
import { until } from "../../harness/until.ts";

const PTY = fileURLToPath(new URL("in_terminal.py", import.meta.url));
const CLI = new URL("../../../src/command/cli.ts", import.meta.url);

/** A screen of characters, which knows the sequences that the command uses and throws for any other. */
class Grid {
  rows: number;
  columns: number;
  lines: string[][];
  isAlternate = false;
  isCursorShown = true;
  #main: string[][] = [];
  #mainCursor: [number, number] = [0, 0];
  #row = 0;
  #column = 0;

  constructor(rows: number, columns: number) {
    this.rows = rows;
    this.columns = columns;
    this.lines = this.#blank();
  }

  #blank(): string[][] {
    return Array.from({ length: this.rows }, () => Array<string>(this.columns).fill(" "));
  }

  resize(rows: number, columns: number): void {
    Object.assign(this, { rows, columns });
    this.lines = this.#blank();
  }

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it reads a terminal's sequences
    for (const [part, sequence] of text.matchAll(/\x1b\[([?\d;]*[A-Za-z])|[\s\S]/gu))
      if (sequence !== undefined) this.#control(sequence);
      else this.#put(part);
  }

  #put(sign: string): void {
    if (sign === "\r") this.#column = 0;
    else if (sign === "\n") this.#feed();
    else {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
      if (/[\x00-\x1f\x7f-\x9f]/.test(sign)) throw new Error(`control character ${JSON.stringify(sign)}`);
      if (this.isAlternate && this.#column >= this.columns) throw new Error(`row ${this.#row} is too wide`);
      if (this.lines[this.#row] && this.#column < this.columns) this.lines[this.#row]![this.#column] = sign;
      this.#column++;
    }
  }

  #feed(): void {
    if (this.#row < this.rows - 1) this.#row++;
    else this.lines = [...this.lines.slice(1), Array<string>(this.columns).fill(" ")];
  }

  #control(sequence: string): void {
    if (sequence.endsWith("m")) return;
    if (sequence === "H") [this.#row, this.#column] = [0, 0];
    else if (sequence === "K") this.lines[this.#row]!.fill(" ", this.#column);
    else if (sequence === "2K") this.lines[this.#row]!.fill(" ");
    else if (/^\d+A$/.test(sequence)) this.#row = Math.max(0, this.#row - Number.parseInt(sequence, 10));
    else if (sequence === "J") {
      this.lines[this.#row]!.fill(" ", this.#column);
      for (const line of this.lines.slice(this.#row + 1)) line.fill(" ");
    } else if (sequence === "?25l" || sequence === "?25h") this.isCursorShown = sequence === "?25h";
    else if (sequence === "?1049h") {
      [this.#main, this.lines, this.isAlternate] = [this.lines, this.#blank(), true];
      this.#mainCursor = [this.#row, this.#column];
    } else if (sequence === "?1049l") {
      [this.lines, this.isAlternate] = [this.#main, false];
      [this.#row, this.#column] = this.#mainCursor;
    } else throw new Error(`unknown sequence ${sequence}`);
  }

  toString(): string {
    return this.lines.map((line) => line.join("").trimEnd()).join("\n");
  }
}

/** Runs the command in a pseudo-terminal to its end. Resolves to its output. */
export async function printedInTerminal(args: readonly string[], columns: number) {
  const child = spawn("python3", [PTY, "50", `${columns}`, process.execPath, builtProgram(CLI), ...args]);
  const [status, chunks] = await Promise.all([
    new Promise<number | null>((resolve) => child.on("close", resolve)),
    child.stdout.toArray(),
  ]);
  return { status, text: Buffer.concat(chunks).toString() };
}

export interface Terminal {
  readonly grid: Grid;
  keys(text: string): void;
  resize(rows: number, columns: number): void;
  /** Waits until the screen matches, and returns it. */
  shows(pattern: RegExp): Promise<string>;
  /** The exit status. */
  readonly ended: Promise<number | null>;
}

/** Runs the command in a pseudo-terminal of the system. */
export function inTerminal(args: readonly string[], rows: number, columns: number): Terminal {
  const grid = new Grid(rows, columns);
  const env = { ...process.env, TERM: "xterm-256color", NO_COLOR: "" };
  const child = spawn("python3", [PTY, `${rows}`, `${columns}`, process.execPath, builtProgram(CLI), ...args], { env });
  const decoder = new TextDecoder();
  let failure: unknown;
  let errors = "";
  // A sequence that two chunks share waits for the rest.
  let rest = "";
  let sizeAtNextFrame: [number, number] | undefined;
  child.stdout.on("data", (chunk: Uint8Array) => {
    const text = rest + decoder.decode(chunk, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it reads a terminal's sequences
    rest = /\x1b(\[[?\d;]*)?$/.exec(text)?.[0] ?? "";
    try {
      grid.write(text.slice(0, text.length - rest.length));
    } catch (error) {
      if (!sizeAtNextFrame) failure ??= error;
    }
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const order = (what: object) => child.stdin.write(`${JSON.stringify(what)}\n`);
  return {
    grid,
    keys: (text) => order({ keys: text }),
    resize(rows, columns) {
      // A frame of the former size may be under way. It is not checked.
      sizeAtNextFrame = [rows, columns];
      grid.resize(rows, columns);
      order({ size: [rows, columns] });
      setTimeout(() => {
        sizeAtNextFrame = undefined;
      }, 500);
    },
    async shows(pattern) {
      await until(`the screen matches ${pattern}`, () => {
        if (failure) throw failure;
        return pattern.test(`${grid}`);
      }).catch((error) => {
        throw new Error(`${error.message}\n${grid}\n${errors}`, { cause: error.cause });
      });
      return `${grid}`;
    },
    ended: new Promise((resolve, reject) =>
      child.on("close", (status) => (failure ? reject(failure) : resolve(status))),
    ),
  };
}
