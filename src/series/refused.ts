import { OrielError } from "../errors.ts";
import { type Answer, STATUS } from "../journal/format/answer.ts";
import { law } from "../journal/format/law.ts";

/** Why an append as a whole was not written, as an error. */
export function refused(answer: Answer, valueType: number): OrielError {
  switch (answer.status) {
    case STATUS.mismatch: {
      const { valueType: type, clock } = answer.header!;
      const stored = `${type === 1 ? "float64" : "float32"} values and the ${clock === 1 ? "event" : "server"} clock`;
      const asked = valueType === type ? "another clock" : "another value type";
      return new OrielError("MISMATCH", `the series is stored with ${stored}; it was opened with ${asked}`);
    }
    case STATUS.full:
      return new OrielError("OVERLOADED", `the open chunk holds ${answer.length} bytes and waits to be closed`, {
        transient: true,
        applied: "unknown",
      });
    case STATUS.void:
      return new OrielError(
        "STALE",
        `the events would get a time more than ${law.voidAfterMs} ms from when they were recorded`,
        {
          transient: true,
          applied: "unknown",
        },
      );
    case STATUS.old:
      return new OrielError("OVERLOADED", "the open chunk is too old and could not be closed", { transient: true });
    default:
      return new OrielError("CORRUPT", `the key holds no journal of format ${law.format}`);
  }
}

/** The store is out of reach, or too slow: what is no fault of the call. */
export function isStoreFailure(error: unknown): error is OrielError {
  return error instanceof OrielError && error.transient && ["DEADLINE", "UNAVAILABLE", "STALE"].includes(error.code);
}

/**
 * Whether a call failed because of its store, so that it may succeed unchanged once the store is repaired: out of reach, too
 * slow, out of memory, read-only, without permission. False for what no store will accept, and for bounds of this process.
 */
export function isOfStore(error: unknown): error is OrielError {
  if (isStoreFailure(error)) return true;
  return error instanceof OrielError && error.cause !== undefined && ["UNAVAILABLE", "OVERLOADED"].includes(error.code);
}

/** The same failure for what waited behind, and was never sent. */
export function unsent(error: unknown): unknown {
  if (!(error instanceof OrielError)) return error;
  return new OrielError(error.code, error.message, { cause: error, transient: error.transient });
}
