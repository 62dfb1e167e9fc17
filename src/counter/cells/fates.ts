import { OrielError } from "../../errors.ts";

/** The batches before it failed. */
export function unsent(cause: unknown): OrielError {
  return new OrielError("UNAVAILABLE", "the counts before these did not come through", { cause, transient: true });
}

/** A batch that was found to come too early was sent: a copy of it that is late may still be counted. */
export function inDoubt(error: unknown): unknown {
  if (!(error instanceof OrielError) || error.code === "LOST" || error.applied === "unknown") return error;
  return new OrielError(error.code, error.message, { cause: error, transient: error.transient, applied: "unknown" });
}
