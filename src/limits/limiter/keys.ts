import { argumentError } from "../../base/errors.ts";
import type { Store } from "../../store/contract.ts";
import type { Policy } from "./policies.ts";

const SEPARATORS: Record<string, string> = { "%": "%25", ":": "%3A", "!": "%21" };
const escaped = (text: string, separators: RegExp) => text.replace(separators, (found) => SEPARATORS[found]!);

/**
 * Returns the prefix of all keys of one id: `<prefix>{<name>:<id>}:limit`, in its own slot, or with a tag
 * `<prefix>{<tag>}:limit:<name>:<id>`. A policy's name follows, or "!" for reservations, requests and turns. The name has no
 * separator, and the braces end the id, so that an id stands in its key as it is. Beside a tag "%" and "!" are escaped in
 * it: "!" follows it, or ":" and a policy's name, which has neither.
 */
export function keyPrefixOf(store: Store, name: string, id: string, tag: string | undefined): string {
  if (typeof id !== "string") throw argumentError("id", id, "a string");
  const own = escaped(name, /[%:!]/g);
  const key = keyOr(store, `${own}:${id}`, "id", id, "with the name at most 10240 bytes");
  if (tag === undefined) return `${key}:limit`;
  return `${keyOr(store, tag, "tag", tag, "at most 10240 bytes")}:limit:${own}:${escaped(id, /[%!]/g)}`;
}

/** The store's key of a name. If the store refuses it, the error names the caller's argument. */
function keyOr(store: Store, name: string, argument: string, value: unknown, bound: string): string {
  try {
    return store.keyOf(name);
  } catch {
    throw argumentError(argument, value, `a string without lone surrogates, ${bound}`);
  }
}

/** The rest of each policy's key after the prefix. */
export function policySuffixes(policies: readonly Policy[]): string[] {
  return policies.map(({ name }) => `:${name}`);
}

export const RESERVATIONS_SUFFIX = "!holds";

/** The key that all requests with an id share. A reset deletes it, so that they are decided again. */
export const REQUESTS_SUFFIX = "!requests";

/** The key of the queue of callers that wait for lent permits of an id. */
export function turnKeyOf(keyPrefix: string): string {
  return `${keyPrefix}!turn`;
}

export function requestSuffix(requestId: string): string {
  if (typeof requestId !== "string" || requestId.length === 0 || requestId.length > 256)
    throw argumentError("requestId", requestId, "a string of 1 to 256 characters");
  if (/\p{Surrogate}/u.test(requestId)) throw argumentError("requestId", requestId, "a string without lone surrogates");
  return `!request:${requestId}`;
}
