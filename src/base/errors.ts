import { didYouMean } from "./did-you-mean.ts";

/** Why a call failed. A denial is not an error, except for a breaker (OPEN), which has no other result to return. */
export type OrielErrorCode =
  | "ARGUMENT"
  | "MISMATCH"
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

/** The properties of an OrielError beside its code and message. */
export interface OrielErrorOptions {
  cause?: unknown;
  /** True when the same call may succeed later without any change by the caller. */
  transient?: boolean | undefined;
  /** "no" if nothing was changed. "unknown" if the reply is missing: the change may or may not have happened. */
  applied?: "no" | "unknown" | undefined;
  /** Only for OPEN: time in ms after which another call is worthwhile. */
  retryAfterMs?: number | undefined;
  /** Only for LOST of `withLock` and `withPermit`: the result of the function. */
  result?: unknown;
}

/** Where an error happened, or a call. Set by `Site` (src/base/site.ts), never by hand. */
export interface ErrorSite {
  structure: string;
  structureName: string | undefined;
  operation: string | undefined;
  address: string | undefined;
}

const isOne = Symbol.for("oriel.error");
const ordinary = Function.prototype[Symbol.hasInstance] as (this: unknown, value: unknown) => boolean;

/**
 * The one error class of oriel. `applied` says whether a retry by the caller could repeat an effect. The message reads
 * `Series "api:latency" record: what went wrong (redis at 127.0.0.1:6379)`.
 * Programs read the same from the properties.
 */
export class OrielError extends Error {
  // Bundlers rename a class that names itself inside (`_OrielError`), and CommonJS builds one with fields. Consoles print the name.
  static {
    // biome-ignore lint/complexity/noThisInStatic: the name would cost each bundle some bytes more.
    Object.defineProperty(this, "name", { value: "OrielError" });
  }

  /** An error of another copy of the package in this process is one too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class that extends this one inherits the method.
    return Object.hasOwn(this, Symbol.hasInstance) ? Object(value)[isOne] === true : ordinary.call(this, value);
  }

  override readonly name = "OrielError";
  readonly code: OrielErrorCode;
  readonly transient: boolean;
  readonly applied: "no" | "unknown";
  /** The address of the page that says what this code means and what to do. It is enumerable, so that consoles print it. */
  readonly help: string;
  /** Only for an open circuit (OPEN): time in ms after which another call is worthwhile. */
  declare readonly retryAfterMs: number | undefined;
  /** Only if a hold was lost while its function ran (LOST of `withLock`, `withPermit`): the function's result. */
  declare readonly result?: unknown;
  /** The class or function that was called: "Series", "Limiter", "redisStore". */
  declare readonly structure?: string;
  /** The name of the structure. */
  declare readonly structureName?: string;
  /** The method that was called: "record", "take". Absent if the constructor failed. */
  declare readonly operation?: string;
  /** The server's host and port, or URL, without credentials, if the error concerns the server. */
  declare readonly address?: string;
  readonly #detail: string;
  get [isOne](): true {
    return true;
  }

  constructor(code: OrielErrorCode, message: string, options: OrielErrorOptions = {}, site?: ErrorSite) {
    const { cause, transient = false, applied = "no", retryAfterMs, result } = options ?? {};
    super(site ? messageAt(site, message) : textOf(message), cause === undefined ? undefined : { cause });
    this.code = code;
    this.transient = transient;
    this.applied = applied;
    this.help = `https://github.com/oriel-js/oriel/blob/main/docs/errors.md#${textOf(code).toLowerCase()}`;
    // Absent properties are not printed.
    for (const [name, value] of Object.entries({ retryAfterMs, result, ...site }))
      if (value !== undefined) Object.assign(this, { [name]: value });
    this.#detail = message;
  }

  /** The message without its site, for an error that adds details or has another site. */
  static detailOf(error: OrielError): string {
    if (typeof error !== "object" || error === null) return show(error);
    return #detail in error ? error.#detail : textOf((error as Error).message);
  }
}

/** A message or code as text. One of another type, such as a symbol, must not make the constructor throw. */
function textOf(message: unknown): string {
  return typeof message === "string" ? message : show(message);
}

function messageAt({ structure, structureName, operation, address }: ErrorSite, detail: string): string {
  const name = structureName === undefined ? "" : ` ${quoted(structureName, 100)}`;
  const called = operation === undefined ? "" : ` ${operation}`;
  return `${structure}${name}${called}: ${detail}${address === undefined ? "" : ` (redis at ${address})`}`;
}

/** A thrown value as text. It may be of any type, and may have no text form. */
export function reasonText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown ?? "failed");
  } catch {
    return "failed";
  }
}

/** A wrong argument: names the argument, the value given, and what is allowed (with its unit). */
export function argumentError(argument: string, value: unknown, allowed: string): OrielError {
  return new OrielError("ARGUMENT", `${argument} is ${show(value)}; it must be ${allowed}`);
}

/** An argument that has no meaning beside the others. `why` names what it belongs to, or what excludes it. */
export function needlessArgument(argument: string, value: unknown, why: string): OrielError {
  return new OrielError("ARGUMENT", `${argument} is ${show(value)}; leave it out, because ${why}`);
}

const DAMAGED = "the value of the key ";
/** Most keys that one message names. */
const MAX_NAMED = 4;

/**
 * The error for a value under `key` that cannot be read. `what` says why. If `what` already names a key in the same
 * words, that key is kept. With several keys, the one at fault is unknown. The public method adds the structure and its
 * name. `cause` is the error of decoding (a TypeError, SyntaxError or RangeError), if there was one.
 */
export function corruptError(
  key: string | readonly string[],
  what: string,
  { cause, applied = "no" }: Pick<OrielErrorOptions, "cause" | "applied"> = {},
): OrielError {
  const why = cause instanceof Error && !what.includes(cause.message) ? ` (${cause.message})` : "";
  const place = what.startsWith(DAMAGED)
    ? ""
    : `${DAMAGED}${named(typeof key === "string" ? [key] : key)} is damaged: `;
  return new OrielError("CORRUPT", `${place}${what}${why}`, { cause, applied });
}

function named(keys: readonly string[]): string {
  const [key, ...others] = [...new Set(keys)].map((each) => quoted(each, 200));
  if (others.length === 0) return key!;
  return `${[key, ...others.slice(0, MAX_NAMED - 1)].join(" or ")}${others.length < MAX_NAMED ? "" : " or another one"}`;
}

/** Returns the number if it is whole and between two bounds (both allowed). Throws ARGUMENT otherwise. */
export function wholeNumber(argument: string, value: unknown, min: number, max: number): number {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
    throw argumentError(argument, value, `a whole number from ${min} to ${max}`);
  return value as number;
}

/** Returns the bound in bytes if it is a whole number of at least `min`. Throws ARGUMENT otherwise. */
export function byteBound(argument: string, value: number, min = 1024): number {
  if (!Number.isSafeInteger(value) || value < min)
    throw argumentError(argument, value, `a whole number of bytes, ${min} or more`);
  return value;
}

/** Throws ARGUMENT if `options` is no object, or has an unknown option. `of` is the option whose value they are. */
export function checkKnown(options: object, known: readonly string[], of?: string): void {
  if (options === null || typeof options !== "object" || Array.isArray(options))
    throw argumentError(of ?? "options", options, `an object with ${known.join(", ")}`);
  for (const name in options)
    if (!known.includes(name)) {
      const argument = of === undefined ? "option" : `option of ${of}`;
      throw argumentError(argument, name, `one of ${known.join(", ")}${didYouMean(name, known)}`);
    }
}

/** Returns the signal, or undefined. Throws ARGUMENT unless it is an AbortSignal. One of another realm is accepted. */
export function signalOf(argument: string, signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return signal;
  const { throwIfAborted, addEventListener } = Object(signal) as Partial<AbortSignal>;
  if (typeof throwIfAborted !== "function" || typeof addEventListener !== "function")
    throw argumentError(argument, signal, "an AbortSignal");
  return signal;
}

/** Throws ARGUMENT if it is not a signal, and the signal's reason if it is aborted. */
export function checkUnaborted(signal: AbortSignal | undefined): void {
  signalOf("signal", signal)?.throwIfAborted();
}

/** A value as messages show it. Of an object only its kind is shown, since its content may be secret. */
export function show(value: unknown): string {
  try {
    return shown(value);
  } catch {
    return "an object"; // a getter or proxy that throws
  }
}

function shown(value: unknown): string {
  if (typeof value === "string") return quoted(value, 60);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`;
  if (value !== null && typeof value === "object") return kindOf(value);
  return typeof value === "bigint" ? `${value}n` : Object.is(value, -0) ? "-0" : String(value);
}

function kindOf(value: object): string {
  const name: unknown = value.constructor?.name;
  if (typeof name !== "string" || name === "" || name === "Object") return "an object";
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

function quoted(text: string, maxCharacters: number): string {
  return JSON.stringify(text.length > maxCharacters ? `${text.slice(0, maxCharacters - 3)}...` : text);
}
