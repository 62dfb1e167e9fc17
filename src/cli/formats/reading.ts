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

/** What of each line is the time, the value and the key: column, field path or named part; undefined: the default. */
export interface Selection {
  readonly time: string | undefined;
  readonly value: string | undefined;
  readonly key: string | undefined;
}

/** Turns lines into outcomes, in the order of the lines; it may hold a few lines back (a record over several lines). */
export interface LineParser {
  push(lineNumber: number, text: string, emit: (outcome: Outcome) => void): void;
  finish(emit: (outcome: Outcome) => void): void;
  /** What the values are, for the axis of a picture. */
  readonly valueName: string;
}
