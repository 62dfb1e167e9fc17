import { OrielError } from "../../errors.ts";
import { unitOfName } from "../plot/axes/units.ts";
import { isNumberText } from "./outcome.ts";

/** A column or field that may hold the values. */
export interface Candidate {
  readonly name: string;
  /** Of the first lines. */
  readonly texts: readonly string[];
}

/** The candidate that holds the values, and how it was found, for people. */
export interface Guess {
  readonly name: string;
  /** Undefined if its name alone says that it is the value. */
  readonly reason: string | undefined;
}

/** Names of values, the most likely one first. */
export const VALUE_NAMES = ["value", "latency", "latency_ms", "duration", "duration_ms", "amount"];
const MAX_LISTED = 12;

/**
 * The value among columns or fields by the types of their first values: the one with numbers. Of several, the one with a
 * name of VALUE_NAMES, else the only one whose name has a unit ("bytes", "wait_ms"). Undefined if none holds numbers.
 * Throws ARGUMENT, naming them, if several are equally likely. `kind` is "column" or "field".
 */
export function guessValue(candidates: readonly Candidate[], kind: "column" | "field"): Guess | undefined {
  const numeric = candidates.filter(holdsNumbers);
  const lower = numeric.map(({ name }) => name.toLowerCase());
  const known = VALUE_NAMES.map((name) => lower.indexOf(name)).find((index) => index >= 0);
  if (known !== undefined) return { name: (numeric[known] as Candidate).name, reason: undefined };
  const reasoned = (one: Candidate, why: string) => ({
    name: one.name,
    reason: `value ${one.name}, the only ${kind} ${why}`,
  });
  if (numeric.length === 1) return reasoned(numeric[0] as Candidate, "of numbers");
  const withUnit = numeric.filter(({ name }) => unitOfName(name) !== undefined);
  if (withUnit.length === 1) return reasoned(withUnit[0] as Candidate, "of numbers with a unit in its name");
  if (numeric.length === 0) return undefined;
  const names = numeric.map(({ name }) => name);
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  const listed = names.slice(0, MAX_LISTED).join(", ") + more;
  throw new OrielError("ARGUMENT", `--value is missing; several ${kind}s hold numbers, name one of them: ${listed}`);
}

/** At least half of the values that are there are numbers. */
function holdsNumbers({ texts }: Candidate): boolean {
  const present = texts.map((text) => text.trim()).filter((text) => text !== "");
  return present.length > 0 && present.filter(isNumberText).length * 2 >= present.length;
}
