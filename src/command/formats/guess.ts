import { OrielError } from "../../base/errors.ts";
import { unitOfName } from "../plot/axes/units.ts";
import { isNumberText } from "./outcome.ts";
import { isDate, isLikelyTime, parseTimeMs } from "./times.ts";

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
/** The last words of names whose numbers are not measured: they name something, or count it. */
const NOT_MEASURED = /(?:^|[^a-z])(?:status|code|level|severity|port|pid|tid|id|line|version|v|year)$/i;
/** Numbers of HTTP's responses. */
const STATUS = /^(?:10[0-3]|20[0-8]|226|30[0-8]|4(?:0\d|1[0-8]|2[1-9]|31|51|99)|5(?:0[0-8]|1[01]|2\d))$/;

/**
 * The value among columns or fields by the types of their first values: the one with measured numbers, which a status or
 * an id is not. Of several, the one with a name of VALUE_NAMES, else the only one whose name has a unit ("bytes",
 * "wait_ms"). Undefined if none holds numbers.
 * Throws ARGUMENT, naming them, if several are equally likely, or if the numbers are not measured, such as those of a
 * status. `kind` is "column" or "field".
 */
export function guessValue(candidates: readonly Candidate[], kind: "column" | "field"): Guess | undefined {
  const numeric = candidates.filter(holdsNumbers);
  const known = VALUE_NAMES.map((name) => numeric.find((one) => one.name.toLowerCase() === name)).find(Boolean);
  if (known !== undefined) return { name: known.name, reason: undefined };
  const reasoned = ({ name }: Candidate, why: string) => ({ name, reason: `value ${name}, the only ${kind} ${why}` });
  const withUnit = numeric.filter(({ name }) => unitOfName(name) !== undefined);
  const measured = numeric.filter((one) => withUnit.includes(one) || isMeasured(one));
  if (numeric.length === 1 && measured.length === 1) return reasoned(measured[0]!, "of numbers");
  if (withUnit.length === 1) return reasoned(withUnit[0]!, "of numbers with a unit in its name");
  if (measured.length === 1) return reasoned(measured[0]!, "of measured numbers");
  if (numeric.length === 0) return undefined;
  const names = numeric.map(({ name }) => name);
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  const listed = names.slice(0, MAX_LISTED).join(", ") + more;
  const why =
    names.length > 1
      ? `several ${kind}s hold numbers, name one of them: ${listed}`
      : `the numbers of the ${kind} ${listed} do not look measured`;
  throw new OrielError("ARGUMENT", `--value is missing; ${why}`);
}

function isMeasured({ name, texts }: Candidate): boolean {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2");
  return !NOT_MEASURED.test(words) && !texts.every((text) => STATUS.test(text.trim()));
}

/** At least half of the values that are there are numbers. */
function holdsNumbers({ texts }: Candidate): boolean {
  const present = texts.map((text) => text.trim()).filter((text) => text !== "");
  return present.length > 0 && present.filter(isNumberText).length * 2 >= present.length;
}

/** Names of times, the most likely one first. */
export const TIME_NAMES = ["timestamp", "time", "datetime", "date", "ts", "at", "@timestamp"];
/** The share of a candidate's texts that are times. */
const TIME_SHARE = 0.99;

/**
 * The times among columns or fields: the first with a name of TIME_NAMES that holds likely times. Without one, the only
 * candidate that holds them, or else the first whose name says time and that holds any times: small numbers under such a
 * name are times, unless others are dates. Undefined if no candidate holds times. Throws ARGUMENT, naming them, if several
 * are equally likely.
 */
export function guessTime(candidates: readonly Candidate[], kind: "column" | "field"): Guess | undefined {
  const named = TIME_NAMES.flatMap((known) => candidates.filter(({ name }) => name.toLowerCase() === known));
  const nameOnly = (one: Candidate | undefined) => one && { name: one.name, reason: undefined };
  const likely = named.find((one) => holds(one, isLikelyTime));
  if (likely !== undefined) return nameOnly(likely);
  const small = named.find((one) => holds(one, isTime));
  const found = candidates.filter((one) => holds(one, small === undefined ? isLikelyTime : isDate));
  const names = found.slice(0, MAX_LISTED).map(({ name }) => name);
  if (found.length === 1) return { name: names[0]!, reason: `time ${names[0]}, the only ${kind} of times` };
  // Times that cannot be read have a name at least. The first line that is wrong is shown then.
  if (small !== undefined) return { name: small.name, reason: `time ${small.name}, in s or ms since 1970` };
  if (found.length === 0) return nameOnly(named[0]);
  throw new OrielError(
    "ARGUMENT",
    `--time is missing; several ${kind}s hold times, name one of them: ${names.join(", ")}`,
  );
}

function isTime(text: string): boolean {
  return !Number.isNaN(parseTimeMs(text));
}

function holds({ texts }: Candidate, isOne: (text: string) => boolean): boolean {
  return texts.length > 0 && texts.filter((text) => isOne(text.trim())).length >= TIME_SHARE * texts.length;
}
