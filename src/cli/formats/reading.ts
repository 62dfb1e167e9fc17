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
  readonly value: ValueChoice;
}

/** Which column, field or part holds the values. */
export interface ValueChoice {
  readonly name: string;
  /** How it was guessed, for people; undefined if it was asked for, or is the default. */
  readonly guess: string | undefined;
  /** How the other columns were guessed, for people: the header and the time. */
  readonly others?: readonly string[];
}
