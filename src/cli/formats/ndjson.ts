import { outcomeOf } from "./outcome.ts";
import type { LineParser, Outcome, Selection } from "./reading.ts";

const TIME_NAMES = ["timestamp", "time", "@timestamp", "ts", "datetime", "date", "at"];
const VALUE_NAMES = ["value", "latency", "latency_ms", "duration", "duration_ms", "amount"];

/**
 * One JSON object a line. A field is named by its path (`request.timing.total`). A field whose own name contains dots
 * has priority. By default the time is the first of timestamp, time, ... and the value the first of value, latency, ...
 */
export class NdjsonParser implements LineParser {
  readonly #time: string[];
  readonly #value: string[];
  readonly #key: string | undefined;
  readonly valueName: string;

  constructor(selection: Selection) {
    this.#time = selection.time === undefined ? TIME_NAMES : [selection.time];
    this.#value = selection.value === undefined ? VALUE_NAMES : [selection.value];
    this.#key = selection.key;
    this.valueName = selection.value ?? "value";
  }

  push(lineNumber: number, text: string, emit: (outcome: Outcome) => void): void {
    if (text.trim() !== "") emit(this.#outcome(lineNumber, text));
  }

  finish(): void {}

  #outcome(lineNumber: number, text: string): Outcome {
    let record: unknown;
    try {
      record = JSON.parse(text);
    } catch {
      return { lineNumber, reason: "it is not JSON" };
    }
    if (record === null || typeof record !== "object" || Array.isArray(record))
      return { lineNumber, reason: "it is not a JSON object" };
    const key = this.#key === undefined ? null : scalarAt(record, this.#key);
    return outcomeOf(lineNumber, firstOf(record, this.#time), firstOf(record, this.#value), key);
  }
}

function firstOf(record: object, paths: string[]): string | undefined {
  for (const path of paths) {
    const found = scalarAt(record, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The text of the number, string or boolean at a path, or undefined. */
function scalarAt(record: object, path: string): string | undefined {
  let found: unknown = record;
  if (Object.hasOwn(record, path)) found = (record as Record<string, unknown>)[path];
  else
    for (const name of path.split(".")) {
      if (found === null || typeof found !== "object" || !Object.hasOwn(found, name)) return undefined;
      found = (found as Record<string, unknown>)[name];
    }
  return typeof found === "string" || typeof found === "number" || typeof found === "boolean"
    ? String(found)
    : undefined;
}
