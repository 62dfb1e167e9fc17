import type { Outcome } from "./reading.ts";
import { parseTimeMs } from "./times.ts";

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** What programs write in the place of a value that is not there. */
const NO_VALUE = /^(?:|-|\\N|null|none|nan|n\/a|na)$/i;

/** The reading of three texts, or the reason why there is none. An undefined text is missing in the line. */
export function outcomeOf(
  lineNumber: number,
  time: string | undefined,
  value: string | undefined,
  key: string | undefined | null,
): Outcome {
  if (time === undefined) return { lineNumber, reason: "there is no time" };
  const atMs = parseTimeMs(time.trim());
  if (Number.isNaN(atMs)) return { lineNumber, reason: `the time ${quoted(time)} is not a time` };
  if (value === undefined) return { lineNumber, reason: "there is no value", isWithoutValue: true };
  const text = value.trim();
  const number = isNumberText(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number)) {
    const reason = `the value ${quoted(value)} is not a finite number`;
    return { lineNumber, reason, ...(NO_VALUE.test(text) && { isWithoutValue: true }) };
  }
  if (key === undefined) return { lineNumber, reason: "there is no key" };
  if (key !== null && /\p{Surrogate}/u.test(key))
    return { lineNumber, reason: `the key ${quoted(key)} is not Unicode text` };
  return { lineNumber, atMs, value: number, key };
}

/** True for the text of a decimal number, without blanks around it. */
export function isNumberText(text: string): boolean {
  return NUMBER.test(text);
}

/** A piece of input that is safe to show: short, and without control characters. */
export function quoted(text: string, maxLength = 40): string {
  return JSON.stringify(text.length > maxLength ? `${text.slice(0, maxLength - 3)}...` : text);
}
