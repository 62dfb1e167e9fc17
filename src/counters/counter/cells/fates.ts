import { OrielError } from "../../../base/errors.ts";

/** The error of a batch that was not sent because an earlier one failed. */
export function unsent(cause: unknown): OrielError {
  return new OrielError("UNAVAILABLE", "these counts were not sent, because the counts before them failed", {
    cause,
    transient: true,
  });
}

/** The batch was sent once already, too early. A late copy of it may still be counted, so its outcome is unknown. */
export function inDoubt(error: unknown): unknown {
  if (!(error instanceof OrielError) || error.code === "LOST" || error.applied === "unknown") return error;
  return new OrielError(error.code, error.message, { cause: error, transient: error.transient, applied: "unknown" });
}
