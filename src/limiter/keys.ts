import { argumentError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import type { Policy } from "./policies.ts";

const SEPARATORS: Record<string, string> = { "%": "%25", ":": "%3A", "!": "%21" };
const escaped = (text: string) => (/[%:!]/.test(text) ? text.replace(/[%:!]/g, (found) => SEPARATORS[found]!) : text);

/**
 * What the keys of one id begin with: `<prefix>{<name>:<id>}:limit`, in a slot of its own; with a tag
 * `<prefix>{<tag>}:limit:<name>:<id>`. A policy's key goes on with its name, "!" marks holds and requests.
 */
export function keyPrefixOf(store: Store, name: string, id: string, tag: string | undefined): string {
  if (typeof id !== "string") throw argumentError("id", id, "a string");
  const own = `${escaped(name)}:${escaped(id)}`;
  const key = keyOr(store, own, "id", id, 'with the name at most 10240 bytes, three for each of "%", ":", "!"');
  if (tag === undefined) return `${key}:limit`;
  return `${keyOr(store, tag, "tag", tag, "at most 10240 bytes")}:limit:${own}`;
}

/** The store's key of a name; what it refuses is told by the argument that the caller gave. */
function keyOr(store: Store, name: string, argument: string, value: unknown, bound: string): string {
  try {
    return store.keyOf(name);
  } catch {
    throw argumentError(argument, value, `a string without lone surrogates, ${bound}`);
  }
}

/** What follows the keyPrefix in each policy's key. */
export function policySuffixes(policies: readonly Policy[]): string[] {
  return policies.map(({ name }) => `:${name}`);
}

export const RESERVATIONS_SUFFIX = "!holds";

/** Of all requests with an id: a reset deletes it, and they are decided anew. */
export const REQUESTS_SUFFIX = "!requests";

export function requestSuffix(requestId: string): string {
  if (typeof requestId !== "string" || requestId.length === 0 || requestId.length > 256)
    throw argumentError("requestId", requestId, "a string of 1 to 256 characters");
  if (/\p{Surrogate}/u.test(requestId)) throw argumentError("requestId", requestId, "a string without lone surrogates");
  return `!request:${requestId}`;
}
