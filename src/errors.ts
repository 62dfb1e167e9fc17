/** Why a call failed. Denial is never an error, but of a breaker (OPEN), which has no other result to give. */
export type OrielErrorCode =
  | "ARGUMENT"
  | "CLASH"
  | "LATE"
  | "EARLY"
  | "OVERLOADED"
  | "TOO_LARGE"
  | "CORRUPT"
  | "DEADLINE"
  | "UNAVAILABLE"
  | "LOST"
  | "STALE"
  | "DIVERGED"
  | "OPEN"
  | "KERNEL";

export interface OrielErrorOptions {
  cause?: unknown;
  /** True when the same call may succeed later without any change by the caller. */
  transient?: boolean;
  /** "no": nothing was changed; "unknown": the reply is missing, the change may or may not have happened. */
  applied?: "no" | "unknown";
  /** OPEN only: after how long another call is worthwhile, ms. */
  retryAfterMs?: number;
}

/** The one error class of oriel. `applied` says whether a retry by the caller could repeat an effect. */
export class OrielError extends Error {
  override readonly name = "OrielError";
  readonly code: OrielErrorCode;
  readonly transient: boolean;
  readonly applied: "no" | "unknown";
  /** Of an open circuit (OPEN): after how long another call is worthwhile, ms. */
  readonly retryAfterMs: number | undefined;

  constructor(code: OrielErrorCode, message: string, options: OrielErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.transient = options.transient ?? false;
    this.applied = options.applied ?? "no";
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A wrong argument: names the argument, the value given, and what is allowed (with its unit). */
export function argumentError(argument: string, value: unknown, allowed: string): OrielError {
  return new OrielError("ARGUMENT", `${argument} is ${show(value)}; it must be ${allowed}`);
}

/** The number, which is whole and between two bounds (both allowed); throws ARGUMENT. */
export function wholeNumber(argument: string, value: unknown, least: number, most: number): number {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
    throw argumentError(argument, value, `a whole number from ${least} to ${most}`);
  return value as number;
}

/** Throws ARGUMENT where `options` is no object, or has an option that is not known. */
export function checkKnown(options: object, known: readonly string[]): void {
  if (options === null || typeof options !== "object") throw argumentError("options", options, "an object");
  for (const name in options)
    if (!known.includes(name)) throw argumentError("option", name, `one of ${known.join(", ")}`);
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (typeof value === "function") return "a function";
  if (value !== null && typeof value === "object")
    return Array.isArray(value) ? "an array" : `a ${value.constructor?.name ?? "object"}`;
  return typeof value === "bigint" ? `${value}n` : Object.is(value, -0) ? "-0" : String(value);
}
