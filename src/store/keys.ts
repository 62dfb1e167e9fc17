import { argumentError } from "../base/errors.ts";

/** Longest name in UTF-8 bytes. Names may come from clients, and every hop keeps the key in memory. */
const MAX_NAME_BYTES = 10_240;

const ESCAPES: Record<string, string> = { "%": "%25", "{": "%7B", "}": "%7D" };
/** The usual names: short, of printable ASCII, without characters to escape. */
const PLAIN = /^[ -$&-z|~]{1,512}$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Checks a prefix of keys. It has no braces, so that the name alone decides the slot. */
export function checkPrefix(prefix: unknown): string {
  if (typeof prefix !== "string" || /[{}]/.test(prefix) || LONE_SURROGATE.test(prefix) || prefix.length > 1024)
    throw argumentError("prefix", prefix, "a string of at most 1024 characters, without braces or lone surrogates");
  return prefix;
}

/** The option `prefix` of every store. */
export const PREFIX = [(_: string, prefix: string) => checkPrefix(prefix), "oriel:"] as const;

/**
 * Full name of the key of `name`: the prefix, then the escaped name in braces. Different names give different keys. All
 * keys that begin with it are in one slot. `%`, `{` and `}` are percent-escaped; the empty name becomes `%`.
 * Throws ARGUMENT if `name` is not a string, has a lone surrogate (which has no UTF-8 form) or exceeds 10 240 bytes.
 */
export function keyOf(prefix: string, name: string): string {
  if (typeof name !== "string") throw argumentError("name", name, "a string");
  if (PLAIN.test(name)) return `${prefix}{${name}}`;
  if (LONE_SURROGATE.test(name)) throw argumentError("name", name, "a string without lone surrogates");
  if (name.length > MAX_NAME_BYTES / 3 && new TextEncoder().encode(name).length > MAX_NAME_BYTES)
    throw argumentError("name", name, `at most ${MAX_NAME_BYTES} bytes in UTF-8`);
  return `${prefix}{${name === "" ? "%" : name.replace(/[%{}]/g, (found) => ESCAPES[found]!)}}`;
}
