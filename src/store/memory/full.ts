import { OrielError } from "../../base/errors.ts";

/** The cause of the OVERLOADED of a full store. */
class Full extends Error {
  override readonly name = "Full";
}

/** The OVERLOADED of the store itself, not of a step. Nothing was changed. */
export function storeFull(text: string): OrielError {
  return new OrielError("OVERLOADED", text, { cause: new Full("the store is full"), transient: true });
}

/**
 * Whether a store, or the Redis behind it, had no room for a call. It compares names, because the error may come from
 * another bundle with its own classes.
 */
export function isStoreFull(error: unknown): error is OrielError {
  const { name, code, cause } = Object(error) as Partial<OrielError>;
  if (name !== "OrielError" || code !== "OVERLOADED") return false;
  const why = Object(cause) as Partial<Error>;
  return why.name === "Full" || (typeof why.message === "string" && why.message.startsWith("OOM "));
}
