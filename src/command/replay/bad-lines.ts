import type { BadLine } from "../formats/reading.ts";
import { oneLine } from "../text/safe-text.ts";

const MAX_SHOWN = 5;

/** Counts the lines that could not be read, and keeps the first few to show. */
export class BadLines {
  #count = 0;
  readonly #first: BadLine[] = [];

  add(line: BadLine): void {
    this.#count += 1;
    if (this.#first.length < MAX_SHOWN) this.#first.push(line);
  }

  get count(): number {
    return this.#count;
  }

  /**
   * One line for each: "line 7: the value "x" is not a finite number", then the number of others. Empty without bad
   * lines.
   */
  text(): string {
    const lines = this.#first.map(({ lineNumber, reason }) => `oriel: line ${lineNumber}: ${oneLine(reason)}\n`);
    const more = this.#count - this.#first.length;
    return (
      lines.join("") +
      (more > 0 ? `oriel: and ${more} more ${more === 1 ? "line" : "lines"} that could not be read\n` : "")
    );
  }
}
