import { OrielError } from "../../base/errors.ts";
import { isDate, isLikelyTime, parseTimeMs } from "./times.ts";
import type { Candidate, Guess } from "./value-guess.ts";

/** Names of times, the most likely one first. */
export const TIME_NAMES = ["timestamp", "time", "datetime", "date", "ts", "at", "@timestamp"];
/** The share of a candidate's texts that are times. */
const TIME_SHARE = 0.99;
const MAX_LISTED = 12;

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
