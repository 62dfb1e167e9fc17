import { OrielError } from "../../errors.ts";

/** Why a store of ours takes nothing more. */
class Full extends Error {
  override readonly name = "Full";
}

/** OVERLOADED by the store itself, and not by a step for a reason of its own: nothing was changed. */
export function storeFull(text: string): OrielError {
  return new OrielError("OVERLOADED", text, { cause: new Full("the store is full"), transient: true });
}

/**
 * Whether a store, or the Redis behind it, had no room for a call. By names: the error may come from another bundle, with
 * classes of its own.
 */
export function isStoreFull(error: unknown): error is OrielError {
  const { name, code, cause } = Object(error) as Partial<OrielError>;
  if (name !== "OrielError" || code !== "OVERLOADED") return false;
  const why = Object(cause) as Partial<Error>;
  return why.name === "Full" || (typeof why.message === "string" && why.message.startsWith("OOM "));
}
