import { type Line, splitLines } from "./lines.ts";
import type { LineParser, Outcome, Selection, ValueChoice } from "./reading.ts";
import { type Format, GUESS_LINES, parserOf, RECOGNISED_LINES, recogniseFormat } from "./recognise.ts";

/** Reads a stream of bytes as outcomes, chunk by chunk. The first lines determine the format. */
export class OutcomeReader {
  #lineCount = 0;
  #parser: LineParser | undefined;
  #format: Format | undefined;
  readonly #selection: Selection;

  constructor(format: Format | undefined, selection: Selection) {
    this.#format = format;
    this.#selection = selection;
  }

  /** Lines so far that are not blank. */
  get lineCount(): number {
    return this.#lineCount;
  }

  get value(): ValueChoice {
    return this.#parser?.value ?? { name: this.#selection.value ?? "value", guess: undefined };
  }

  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Outcome[]> {
    for await (const lines of splitLines(chunks)) {
      const outcomes: Outcome[] = [];
      const parser = this.#parserFor(lines);
      for (const { number, text } of lines) {
        if (text?.trim() !== "") this.#lineCount += 1;
        if (text === null) outcomes.push({ lineNumber: number, reason: "it is too long" });
        else parser?.push(number, text, (outcome) => outcomes.push(outcome));
      }
      yield outcomes;
    }
    const last: Outcome[] = [];
    this.#parser?.finish((outcome) => last.push(outcome));
    yield last;
  }

  #parserFor(lines: readonly Line[]): LineParser | undefined {
    if (this.#parser !== undefined) return this.#parser;
    const texts = lines.flatMap(({ text }) => (text === null || text.trim() === "" ? [] : [text]));
    if (texts.length === 0) return undefined; // nothing but blank lines yet
    this.#format ??= recogniseFormat(texts.slice(0, RECOGNISED_LINES));
    this.#parser = parserOf(this.#format, this.#selection, texts.slice(0, GUESS_LINES));
    return this.#parser;
  }
}
