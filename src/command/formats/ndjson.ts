import { type Candidate, guessTime, guessValue, TIME_NAMES, VALUE_NAMES } from "./guess.ts";
import { outcomeOf } from "./outcome.ts";
import type { Choice, LineParser, Outcome, Selection } from "./reading.ts";
import { isLikelyTime } from "./times.ts";

/** Deeper fields are not guessed. */
const MAX_DEPTH = 4;

/**
 * One JSON object a line. A field is named by its path (`request.timing.total`). A field whose own name contains dots
 * has priority. The time and the value are guessed by their names and by what the first lines hold (guess.ts).
 * Lines may have several names for the time.
 */
export class NdjsonParser implements LineParser {
  readonly #times: string[];
  readonly #value: string;
  readonly #key: string | undefined;
  readonly choice: Choice;

  constructor({ time, value, key }: Selection, firstLines: readonly string[] = []) {
    const records = firstLines.flatMap((line) => parsed(line) ?? []);
    this.#key = key;
    this.#times = time === undefined ? timesOf(records) : [time];
    const taken = [...this.#times, ...TIME_NAMES, key];
    const numbers = candidatesOf(records, (found, path) => typeof found === "number" || VALUE_NAMES.includes(path));
    const free = numbers.filter(({ name }) => !taken.includes(name));
    const guess = value === undefined ? guessValue(free, "field") : undefined;
    this.#value = value ?? guess?.name ?? "value";
    const isNamed = time !== undefined || TIME_NAMES.includes(this.#times[0]!);
    const isLikely = records.some((record) => isLikelyTime(textAt(record, this.#times[0]!) ?? ""));
    const guesses = isNamed ? [] : [`time ${this.#times[0]}, the only field of times`];
    if (isNamed && time === undefined && !isLikely) guesses.push(`time ${this.#times[0]}, in s or ms since 1970`);
    this.choice = { form: "NDJSON", time: this.#times[0], value: this.#value, valueGuess: guess?.reason, guesses };
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
    return outcomeOf(lineNumber, firstOf(record, this.#times), scalarAt(record, this.#value), key);
  }
}

/** The fields of the times. The names of TIME_NAMES come first that hold likely times. */
function timesOf(records: readonly unknown[]): string[] {
  const named = TIME_NAMES.filter((name) => records.some((record) => textAt(record, name) !== undefined));
  const isLikely = (name: string) => records.some((record) => isLikelyTime(textAt(record, name) ?? ""));
  const times = [...named.filter(isLikely), ...named.filter((name) => !isLikely(name))];
  if (
    records.length === 0 ||
    records.filter((record) => times.some((name) => textAt(record, name))).length * 2 > records.length
  )
    return times.length === 0 ? TIME_NAMES : times;
  const fields = candidatesOf(records, (found) => typeof found === "string" || typeof found === "number");
  const guess = guessTime(
    fields.filter(({ texts }) => texts.length * 2 > records.length),
    "field",
  );
  return guess === undefined ? TIME_NAMES : [guess.name];
}

/** The fields of the first lines that `isOne` accepts in one of them. */
function candidatesOf(records: readonly unknown[], isOne: (found: unknown, path: string) => boolean): Candidate[] {
  const texts = new Map<string, string[]>();
  const collect = (found: unknown, path: string, depth: number): void => {
    if ((typeof found === "number" || typeof found === "string") && isOne(found, path)) {
      const known = texts.get(path);
      if (known) known.push(String(found));
      else texts.set(path, [String(found)]);
    }
    if (found === null || typeof found !== "object" || Array.isArray(found) || depth >= MAX_DEPTH) return;
    for (const [name, inner] of Object.entries(found))
      collect(inner, path === "" ? name : `${path}.${name}`, depth + 1);
  };
  for (const record of records) collect(record, "", 0);
  return [...texts].map(([name, all]) => ({ name, texts: all }));
}

function textAt(record: unknown, path: string): string | undefined {
  return record !== null && typeof record === "object" ? scalarAt(record, path) : undefined;
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
