import { OrielError } from "../../../base/errors.ts";
import { isStoreFull } from "../../../store/memory/full.ts";

/** The member of a limiter that a middleware calls. Limiters of other copies of the package have it too. */
export const passes: unique symbol = Symbol.for("oriel.passes") as never;
/** Time after which a call that was denied without the store may try again. */
export const RETRY_AFTER_MS = 1000;

/**
 * Whether an error means that the store is unreachable or full. OVERLOADED of a step itself, for an id with too many
 * reservations, is not a failure of the store. Compares names, because the error may come from another bundle.
 */
export function isStoreFailure(error: unknown): error is OrielError {
  const { name, code } = Object(error) as Partial<OrielError>;
  return name === "OrielError" && (code === "DEADLINE" || code === "UNAVAILABLE" || isStoreFull(error));
}

/** A copy of a request's error for a call that the request was only a part of. */
export function withApplied({ code, message, cause, transient }: OrielError, applied: OrielError["applied"]) {
  return new OrielError(code, message, { cause, transient, applied });
}
