import { outcomeOf } from "./outcome.ts";
import type { LineParser, Outcome, Selection, ValueChoice } from "./reading.ts";
import { type Candidate, guessValue, VALUE_NAMES } from "./value-guess.ts";

const TIME_NAMES = ["timestamp", "time", "@timestamp", "ts", "datetime", "date", "at"];
/** Deeper fields are not guessed. */
const MAX_DEPTH = 4;

/**
 * One JSON object a line. A field is named by its path (`request.timing.total`). A field whose own name contains dots
 * has priority. By default the time is the first of timestamp, time, ... and the value the first of value, latency, ... If
 * no field of the first lines has such a name and a number, the value is guessed by their types (value-guess.ts).
 */
export class NdjsonParser implements LineParser {
  readonly #time: string[];
  readonly #value: string[];
  readonly #key: string | undefined;
  readonly value: ValueChoice;

  constructor(selection: Selection, firstLines: readonly string[] = []) {
    this.#time = selection.time === undefined ? TIME_NAMES : [selection.time];
    this.#key = selection.key;
    const guess =
      selection.value === undefined
        ? guessValue(candidatesOf(firstLines, [...this.#time, selection.key]), "field")
        : undefined;
    const byType = guess?.reason === undefined ? undefined : guess.name;
    const asked = selection.value ?? byType;
    this.#value = asked === undefined ? VALUE_NAMES : [asked];
    this.value = { name: selection.value ?? guess?.name ?? "value", guess: guess?.reason };
  }

  push(lineNumber: number, text: string, emit: (outcome: Outcome) => void): void {
    if (text.trim() !== "") emit(this.#outcome(lineNumber, text));
  }

  finish(): void {}

  #outcome(lineNumber: number, text: string): Outcome {
    const record = parsed(text);
    if (record === undefined) return { lineNumber, reason: "it is not JSON" };
    if (record === null || typeof record !== "object" || Array.isArray(record))
      return { lineNumber, reason: "it is not a JSON object" };
    const key = this.#key === undefined ? null : scalarAt(record, this.#key);
    return outcomeOf(lineNumber, firstOf(record, this.#time), firstOf(record, this.#value), key);
  }
}

/** The fields of the first lines with a number in one of them, without those of times and keys. */
function candidatesOf(lines: readonly string[], taken: readonly (string | undefined)[]): Candidate[] {
  const texts = new Map<string, string[]>();
  const collect = (found: unknown, path: string, depth: number): void => {
    if (typeof found === "number" || (typeof found === "string" && VALUE_NAMES.includes(path)))
      texts.set(path, [...(texts.get(path) ?? []), String(found)]);
    if (found === null || typeof found !== "object" || Array.isArray(found) || depth >= MAX_DEPTH) return;
    for (const [name, inner] of Object.entries(found))
      collect(inner, path === "" ? name : `${path}.${name}`, depth + 1);
  };
  for (const line of lines) collect(parsed(line), "", 0);
  return [...texts]
    .filter(([path]) => !taken.includes(path) && !TIME_NAMES.includes(path))
    .map(([name, all]) => ({ name, texts: all }));
}

/** Undefined if it is not JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
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
