import { OrielError } from "../errors.ts";

/** After which a call that was denied for want of a store may try again. */
export const TRY_AGAIN_MS = 1000;

/** Whether an error says that the store is out of reach, and not what is wrong with the call. */
export function isAway(error: unknown): error is OrielError {
  return error instanceof OrielError && (error.code === "DEADLINE" || error.code === "UNAVAILABLE");
}

/** The error of one request, for a call of which it was not the whole. */
export function withApplied({ code, message, cause, transient }: OrielError, applied: OrielError["applied"]) {
  return new OrielError(code, message, { cause, transient, applied });
}
