import { argumentError } from "../base/errors.ts";
import { hexOf } from "../base/hex.ts";
import { warn } from "../base/warn.ts";

/** Far below the bound of a store's name, even after escaping. */
const MAX_CHARACTERS = 256;

/** The ids of all requests with a malformed address, and of those without one. No client has such a key. */
export const MALFORMED_ADDRESS = "malformed address";
export const NO_ADDRESS = "no address";

/**
 * Returns the limiter's id for a client's key. Clients choose their headers, so no header value is an error or a way
 * past the limit. A long key, a list and text with lone surrogates count by their hash, each as its own client.
 * Requests without a key count together with the key "". Throws ARGUMENT for values that no header has.
 */
export function clientId(key: unknown): string | Promise<string> {
  if (typeof key === "string") return key.length > MAX_CHARACTERS || /\p{Surrogate}/u.test(key) ? hashOf(key) : key;
  if (key === undefined || key === null) return "";
  if (Array.isArray(key) && key.every((part) => typeof part === "string")) return hashOf(key.join("\n"));
  throw argumentError("key", key, "a string");
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256 ${hexOf(new Uint8Array(digest))}`;
}

/** Middleware that has warned, with the first words of its warning. */
const warned = new Set<string>();

/** Warns that requests of several clients look the same: once in this process for each middleware and reason. */
export function warnOnce(name: string, reason: string): void {
  const kind = `${name} ${reason.replace(/".*"/s, "")}`;
  if (warned.has(kind)) return;
  warned.add(kind);
  warn(`${name}: ${reason}; all such requests count as one client; pass a key of each client`);
}
