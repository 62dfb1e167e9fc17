import { type Line, splitLines } from "./lines.ts";
import type { Choice, LineParser, Outcome, Selection } from "./reading.ts";
import { type Format, parserFor, SURVEY_LINES } from "./recognise.ts";

/** A survey ends after this number of characters, however few its lines are. */
const MAX_SURVEY_CHARACTERS = 1 << 22;

/** Reads a stream of bytes as outcomes, chunk by chunk. The first lines determine the form. */
export class OutcomeReader {
  #lineCount = 0;
  #parser: LineParser | undefined;
  #surveyed: Line[] = [];
  #surveyedCharacters = 0;
  readonly #format: Format | undefined;
  readonly #selection: Selection;
  readonly #isLive: boolean;

  /**
   * Live input is not delayed: its first lines determine the form as soon as there are two. The first may be a header,
   * and a window ends after a second event at the earliest.
   */
  constructor(format: Format | undefined, selection: Selection, isLive = false) {
    this.#format = format;
    this.#selection = selection;
    this.#isLive = isLive;
  }

  /** Lines so far that are not blank. */
  get lineCount(): number {
    return this.#lineCount;
  }

  /** Undefined before the first outcomes, and for an input without a line. */
  get choice(): Choice | undefined {
    return this.#parser?.choice;
  }

  /** Throws ARGUMENT before the first outcome if the form is not certain. */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Outcome[]> {
    for await (const lines of splitLines(chunks)) {
      const outcomes = this.#outcomesOf(lines);
      if (outcomes !== undefined) yield outcomes;
    }
    const last: Outcome[] = this.#parser === undefined ? this.#begin(true) : [];
    this.#parser?.finish((outcome) => last.push(outcome));
    yield last;
  }

  /** Undefined while the first lines are surveyed. */
  #outcomesOf(lines: readonly Line[]): Outcome[] | undefined {
    if (this.#parser !== undefined) return this.#parse(this.#parser, lines);
    for (const line of lines) {
      if (line.text?.trim() === "") continue;
      this.#surveyed.push(line);
      this.#surveyedCharacters += line.text?.length ?? 0;
    }
    const enoughLines = this.#isLive ? 2 : SURVEY_LINES;
    const isEnough = this.#surveyed.length >= enoughLines || this.#surveyedCharacters >= MAX_SURVEY_CHARACTERS;
    return isEnough ? this.#begin(false) : undefined;
  }

  #begin(isWhole: boolean): Outcome[] {
    const lines = this.#surveyed;
    if (lines.length === 0) return [];
    this.#surveyed = [];
    this.#parser = parserFor(this.#format, this.#selection, lines.slice(0, SURVEY_LINES), isWhole);
    return this.#parse(this.#parser, lines);
  }

  #parse(parser: LineParser, lines: readonly Line[]): Outcome[] {
    const outcomes: Outcome[] = [];
    for (const { number, text, fault = "" } of lines) {
      if (text?.trim() !== "") this.#lineCount += 1;
      if (text === null) outcomes.push({ lineNumber: number, reason: fault });
      else parser.push(number, text, (outcome) => outcomes.push(outcome));
    }
    return outcomes;
  }
}
