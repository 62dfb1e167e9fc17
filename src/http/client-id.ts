import { argumentError } from "../errors.ts";

/** Well below what a store takes for a name, however it is escaped there. */
const MOST_CHARACTERS = 256;

/** What no client has for a key: the requests whose client's address is malformed count under it, as one client. */
export const MALFORMED_ADDRESS = "malformed address";

/**
 * The limiter's id of a client's key. A client chooses what a header says, so nothing that a header can be is an error, or
 * a way past the limit: a long key, a list, and text that is not well formed count by their hash, each as a client of
 * its own; requests without a key count together, as those whose key is "". Throws ARGUMENT for what no header can be.
 */
export function clientId(key: unknown): string | Promise<string> {
  if (typeof key === "string") return key.length > MOST_CHARACTERS || /\p{Surrogate}/u.test(key) ? hashOf(key) : key;
  if (key === undefined || key === null) return "";
  if (Array.isArray(key) && key.every((part) => typeof part === "string")) return hashOf(key.join("\n"));
  throw argumentError("key", key, "a string");
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return `sha256 ${hex.join("")}`;
}
