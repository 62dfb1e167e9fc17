import { argumentError } from "./errors.ts";
import { isDate } from "./realm.ts";
import { argumentErrorOf } from "./site.ts";

/** Milliseconds, or a number with a unit: "250ms", "10s", "5m", "1h", "7d". */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

/** The present in ms since 1970. Structures take one, so that tests can step it. */
export type Clock = () => number;

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Whole milliseconds of a duration between two bounds (both allowed); throws ARGUMENT, naming `argument`. */
export function durationMs(argument: string, value: Duration, minMs = 1, maxMs = Number.MAX_SAFE_INTEGER): number {
  const ms = typeof value === "string" ? parse(value) : value;
  if (typeof ms !== "number" || !Number.isFinite(ms) || Math.floor(ms) < minMs || Math.floor(ms) > maxMs)
    throw argumentError(argument, value, `a duration from ${minMs} ms${until(maxMs)}, ${FORMS}`);
  return Math.floor(ms);
}

const FORMS = 'as a number of ms or like "250ms", "10s", "5m", "1h", "7d"';

function until(maxMs: number): string {
  if (maxMs === Number.MAX_SAFE_INTEGER) return " on";
  return ` to ${maxMs} ms${maxMs % UNIT_MS.d === 0 ? ` (${maxMs / UNIT_MS.d}d)` : ""}`;
}

/**
 * Milliseconds of a duration that came as text, of the environment for instance: "250ms", "10s", "5m", "1h", "7d".
 * Throws ARGUMENT.
 */
export function parseDuration(text: string): number {
  const ms = typeof text === "string" ? parse(text) : Number.NaN;
  if (!Number.isFinite(ms))
    throw argumentErrorOf(
      "parseDuration",
      "text",
      text,
      'a number with its unit, like "250ms", "10s", "5m", "1h", "7d"',
    );
  return ms;
}

function parse(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : Number.NaN;
}

/** An instant in whole ms since 1970 (a fraction is floored); throws ARGUMENT where it is not a safe integer. */
export function instantMs(argument: string, value: number | Date): number {
  const ms = isDate(value) ? Math.floor(value.getTime()) : typeof value === "number" ? Math.floor(value) : Number.NaN;
  if (!Number.isSafeInteger(ms)) throw argumentError(argument, value, "ms since 1970, a safe integer");
  return ms;
}

/** "right": from < t <= to. "both": from <= t <= to. */
export type Closed = "right" | "both";

/** The window law: whether an event at `t` lies in the window that ends at `toMs` and begins at `fromMs`. */
export function isInside(t: number, fromMs: number, toMs: number, closed: Closed): boolean {
  return t <= toMs && (closed === "both" ? t >= fromMs : t > fromMs);
}
