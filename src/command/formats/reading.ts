/** One event as read: its position, time, value and series. */
export interface Reading {
  readonly lineNumber: number;
  readonly atMs: number;
  readonly value: number;
  /** null when no key was asked for: everything is one series. */
  readonly key: string | null;
}

/** A line that cannot be recorded, and the reason. */
export interface BadLine {
  readonly lineNumber: number;
  readonly reason: string;
  /** True if the line has the form of the others, but no value, as when nothing was measured. */
  readonly isWithoutValue?: boolean;
}

export type Outcome = Reading | BadLine;

/** The time, value and key of a line: a column, field path or named part. Undefined: the default. */
export interface Selection {
  readonly time: string | undefined;
  readonly value: string | undefined;
  readonly key: string | undefined;
}

/** Turns lines into outcomes, in order. It may delay a few lines (a record over several lines). */
export interface LineParser {
  push(lineNumber: number, text: string, emit: (outcome: Outcome) => void): void;
  finish(emit: (outcome: Outcome) => void): void;
  /** Known after the first record. */
  readonly choice: Choice;
}

/** The form, columns and fields as which a file is read, for people. */
export interface Choice {
  /** "CSV", "NDJSON" or "access log". */
  readonly form: string;
  /** The columns, fields or parts that hold times and values. Undefined if the file ended before they were known. */
  readonly time: string | undefined;
  readonly value: string | undefined;
  /** How the value and the others were guessed. Undefined and empty for what was asked for, or its name says. */
  readonly valueGuess?: string | undefined;
  readonly guesses?: readonly string[];
}
