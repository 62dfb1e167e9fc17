import { corruptError, OrielError, type OrielErrorCode } from "../base/errors.ts";
import { reasonOf } from "./health/reason.ts";

const CODES: ReadonlySet<string> = new Set<OrielErrorCode>([
  "ARGUMENT",
  "MISMATCH",
  "LATE",
  "EARLY",
  "OVERLOADED",
  "TOO_LARGE",
  "CORRUPT",
  "DEADLINE",
  "UNAVAILABLE",
  "LOST",
  "STALE",
  "DIVERGED",
  "KERNEL",
]);
/** The message of OVERLOADED if the server refuses to grow (OOM). */
export const OUT_OF_MEMORY = "Redis is out of memory; raise its maxmemory, or free memory";
const TRANSIENT: ReadonlySet<string> = new Set<OrielErrorCode>(["OVERLOADED", "DEADLINE", "UNAVAILABLE"]);

/**
 * The error of a step that refuses its input, as `refuse` in Lua. Nothing was written. Both kinds of stores use it.
 */
export function refusal(code: OrielErrorCode, text: string): OrielError {
  return new OrielError(code, text, { transient: TRANSIENT.has(code), applied: "no" });
}

/** Errors that Redis returns only before a script's first write (Redis, script.c). */
const BEFORE_ANY_WRITE = /^(OOM|READONLY|MISCONF|NOREPLICAS|MASTERDOWN|WRONGTYPE) /;

/**
 * Errors of commands that the server refused to run. For a command or key that the ACL forbids to a script, Redis 7.0
 * answers "ERR The user executing the script can't ...". Redis 7.2 and Valkey answer "ERR ACL failure in script: ...".
 * For a command that the server does not have, scripts get "ERR Unknown Redis command called from script".
 */
const REFUSED_COMMAND =
  /^(READONLY|MISCONF|NOREPLICAS|MASTERDOWN|NOPERM|UNKILLABLE) |^ERR (The user executing|ACL failure|[Uu]nknown (\w+ )?command|This \w+ command is not allowed)|non.local key/;

/**
 * Returns the error for one call's { code, text } reply. For "ERROR", the wrapper caught an error: the step stopped and
 * may have written before. For "UNDONE", the step's first write was refused. `alreadyApplied` is true if an earlier,
 * unanswered attempt of the same call may have run.
 */
export function errorOfReply(keys: readonly string[], code: string, text: string, alreadyApplied: boolean): OrielError {
  // A step may take the refusal of a read for a damaged value.
  const said = text.replace(/^.* is damaged: /s, "");
  const isRefusal = REFUSED_COMMAND.test(said);
  const isKnown = CODES.has(code) && !(code === "CORRUPT" && isRefusal);
  const applied =
    !alreadyApplied && (CODES.has(code) || code === "UNDONE" || BEFORE_ANY_WRITE.test(text)) ? "no" : "unknown";
  if (code === "CORRUPT" && isKnown) return corruptError(keys[0]!, text, { applied });
  if (isKnown) return new OrielError(code as OrielErrorCode, text, { transient: TRANSIENT.has(code), applied });
  const cause = new Error(said);
  if (text.startsWith("OOM ")) return new OrielError("OVERLOADED", OUT_OF_MEMORY, { cause, transient: true, applied });
  // The server refused a command for now, for instance because a slot is moving to another node.
  if (isRefusal) {
    const reason = reasonOf(cause);
    const detail = reason?.text ?? `Redis stopped the step (${said})`;
    return new OrielError("UNAVAILABLE", detail, { cause, transient: reason?.isTransient ?? true, applied });
  }
  // WRONGTYPE comes from a step's first read. Any other error means a value that no step of oriel wrote.
  const what = text.startsWith("WRONGTYPE ")
    ? "its Redis type is not the one that oriel stores there"
    : "no step of oriel wrote it";
  return corruptError(keys, what, { cause, applied });
}
