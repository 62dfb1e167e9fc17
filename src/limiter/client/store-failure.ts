import { OrielError } from "../../errors.ts";
import { isStoreFull } from "../../store/memory/full.ts";

/** After which a call that was denied for want of a store may try again. */
export const RETRY_AFTER_MS = 1000;

/**
 * Whether an error says that the store fails, out of reach or full, and not what is wrong with the call: a step's own
 * OVERLOADED, of an id with too many reservations, is no failure of the store. By its name, as of another bundle.
 */
export function isStoreFailure(error: unknown): error is OrielError {
  const { name, code } = Object(error) as Partial<OrielError>;
  return name === "OrielError" && (code === "DEADLINE" || code === "UNAVAILABLE" || isStoreFull(error));
}

/** The error of one request, for a call of which it was not the whole. */
export function withApplied({ code, message, cause, transient }: OrielError, applied: OrielError["applied"]) {
  return new OrielError(code, message, { cause, transient, applied });
}
