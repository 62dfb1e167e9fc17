import { OrielError } from "../errors.ts";

/** Why a store of ours takes nothing more. */
class Full extends Error {
  override readonly name = "Full";
}

/** OVERLOADED by the store itself, and not by a step for a reason of its own: nothing was changed. */
export function storeFull(text: string): OrielError {
  return new OrielError("OVERLOADED", text, { cause: new Full("the store is full"), transient: true });
}

/** Whether a store, or the Redis behind it, had no room for a call. */
export function isStoreFull(error: unknown): error is OrielError {
  if (!(error instanceof OrielError) || error.code !== "OVERLOADED") return false;
  return error.cause instanceof Full || (error.cause instanceof Error && error.cause.message.startsWith("OOM "));
}
