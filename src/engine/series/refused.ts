import { OrielError } from "../../base/errors.ts";
import { type JournalAnswer, STATUS } from "../journal/format/answer.ts";
import { mismatchOf } from "../journal/format/chunk.ts";
import { constants } from "../journal/format/constants.ts";

/** Of a refusal of the last copy of a request: an earlier one may have been applied. */
export const UNSURE = { transient: true, applied: "unknown" } as const;

/** The error of an append that the store refused as a whole. */
export function refused(answer: JournalAnswer, valueType: number): OrielError {
  switch (answer.status) {
    case STATUS.mismatch:
      return mismatchOf(answer.header!, valueType);
    case STATUS.full:
      return new OrielError("OVERLOADED", `the open chunk has ${answer.length} bytes and waits to be closed`, UNSURE);
    case STATUS.void: {
      const late = `the store would give the events a time more than ${constants.voidAfterMs} ms from when they were recorded`;
      return new OrielError("STALE", late, UNSURE);
    }
    case STATUS.old:
      return new OrielError("OVERLOADED", "the open chunk is too old and was not closed", UNSURE);
    default:
      return new OrielError("CORRUPT", `the key holds no journal of format ${constants.format}`);
  }
}

/** The error of an event whose `at` lies outside the series. */
export function outOfTime(code: "EARLY" | "LATE", atMs: number, applied: "no" | "unknown"): OrielError {
  const why =
    code === "EARLY" ? `more than ${constants.earlyMs} ms ahead of the server's clock` : "older than the retention";
  const isSeconds = code === "LATE" && atMs > 1e8 && atMs < 1e10;
  const hint = isSeconds ? ". `at` is in ms since 1970; this looks like seconds" : "";
  const date = new Date(atMs);
  const shown = Number.isNaN(date.getTime()) ? "" : ` (${date.toISOString()})`;
  return new OrielError(code, `at is ${atMs}${shown}, which is ${why}${hint}`, { applied });
}

/** The store is unreachable or too slow. */
export function isUnreachable(error: unknown): error is OrielError {
  return error instanceof OrielError && error.transient && ["DEADLINE", "UNAVAILABLE", "STALE"].includes(error.code);
}

/**
 * Whether the store caused the failure, so that the same call may succeed once the store is repaired: it is unreachable,
 * slow, out of memory, read-only or without permission. False for calls that no store accepts and for this process's
 * own bounds.
 */
export function isStoreFault(error: unknown): error is OrielError {
  if (isUnreachable(error)) return true;
  return error instanceof OrielError && error.cause !== undefined && ["UNAVAILABLE", "OVERLOADED"].includes(error.code);
}

/** The same failure for calls that were queued behind the failed one and never sent. */
export function unsent(error: unknown): unknown {
  return restated(error, "no");
}

/** Throws the same failure, of a call of which an earlier request may have been applied. */
export function failUncertain(error: unknown): never {
  throw restated(error, "unknown");
}

/** Begins its message. */
export const RECORDED = "the event is recorded, but its window has no answer: ";

/** The error of a query whose own event is in the journal. A retry of the same call would record the event twice. */
export function afterRecording(error: unknown): unknown {
  return restated(error, "unknown", RECORDED);
}

function restated(cause: unknown, applied: "no" | "unknown", before = ""): unknown {
  if (!(cause instanceof OrielError)) return cause;
  const { code, message, transient } = cause;
  return new OrielError(code, before + message, { cause, transient, applied });
}

/** `maxEvents`: how many events fit into `maxResidentBytes`. */
export function tooLarge(maxEvents: number, maxResidentBytes: number): OrielError {
  const room = `${maxResidentBytes} bytes, which is room for ${maxEvents} events with their frame names`;
  return new OrielError("TOO_LARGE", `the window needs more than maxResidentBytes, ${room}`);
}
