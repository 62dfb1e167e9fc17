import type { Output, Streams } from "../output.ts";

const ENTER = "\x1b[?1049h\x1b[?25l";
const LEAVE = "\x1b[?25h\x1b[?1049l";

/** The whole terminal, which shows its former content again after `close`. */
export class Screen {
  readonly #output: Output;
  readonly #stdout: Streams["stdout"] & { columns?: number; rows?: number };
  #isOpen = false;

  constructor(output: Output, stdout: Streams["stdout"]) {
    this.#output = output;
    this.#stdout = stdout;
  }

  get columns(): number {
    return this.#stdout.columns || 80;
  }

  get rows(): number {
    return this.#stdout.rows || 24;
  }

  /** Draws lines, each at most as wide as the terminal. Lines below the last row are left out. */
  async draw(lines: readonly string[]): Promise<void> {
    const begin = this.#isOpen ? "" : ENTER;
    this.#isOpen = true;
    const shown = lines.slice(0, this.rows);
    await this.#output.write(`${begin}\x1b[H${shown.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J`);
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#output.write(LEAVE);
  }
}

/** Aborts `stop` at Ctrl-C and at SIGTERM. Returns a function that ends this. */
export function stopAtSignals(stop: AbortController): () => void {
  const abort = () => stop.abort();
  process.once("SIGINT", abort);
  process.once("SIGTERM", abort);
  return () => {
    process.removeListener("SIGINT", abort);
    process.removeListener("SIGTERM", abort);
  };
}
