import { corruptError, OrielError, type OrielErrorCode } from "../errors.ts";
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
const TRANSIENT: ReadonlySet<string> = new Set<OrielErrorCode>(["OVERLOADED", "DEADLINE", "UNAVAILABLE"]);

/** What a step refuses, the twin of `refuse` in Lua: nothing was written. Both stores give the same error. */
export function refusal(code: OrielErrorCode, text: string): OrielError {
  return new OrielError(code, text, { transient: TRANSIENT.has(code), applied: "no" });
}

/** What a script that has written nothing yet is refused; one that has is never refused so (Redis, script.c). */
const BEFORE_ANY_WRITE = /^(OOM|READONLY|MISCONF|NOREPLICAS|MASTERDOWN|WRONGTYPE) /;

/**
 * What the server would not do. Redis 7.0 says of a command or key that its ACL forbids a script: "ERR The user executing
 * the script can't ...", Redis 7.2 and Valkey: "ERR ACL failure in script: ...".
 */
const NOT_DONE =
  /^(READONLY|MISCONF|NOREPLICAS|MASTERDOWN|NOPERM|UNKILLABLE) |^ERR (The user executing|ACL failure)|non.local key/;

/**
 * The error of one call's { code, text } reply. "ERROR" was caught by the wrapper: the step broke off, and may have
 * written before. "UNDONE": its first write was refused. `alreadyApplied` is true where an earlier, unanswered attempt of
 * the same call may have been run.
 */
export function errorOfReply(keys: readonly string[], code: string, text: string, alreadyApplied: boolean): OrielError {
  const isKnown = CODES.has(code);
  const applied = !alreadyApplied && (isKnown || code === "UNDONE" || BEFORE_ANY_WRITE.test(text)) ? "no" : "unknown";
  if (code === "CORRUPT") return corruptError(keys[0]!, text, { applied });
  if (isKnown) return new OrielError(code as OrielErrorCode, text, { transient: TRANSIENT.has(code), applied });
  const cause = new Error(text);
  if (text.startsWith("OOM "))
    return new OrielError("OVERLOADED", "Redis is out of memory", { cause, transient: true, applied });
  // What the server would not do now; a slot on its way to another node, for instance.
  if (NOT_DONE.test(text)) {
    const reason = reasonOf(cause);
    const told = reason?.text ?? `Redis broke the step off (${text})`;
    return new OrielError("UNAVAILABLE", told, { cause, transient: reason?.isTransient ?? true, applied });
  }
  // WRONGTYPE comes from a step's first read; anything else is a value that no step of ours has written.
  const what = text.startsWith("WRONGTYPE ")
    ? "it is of another type than oriel stores there"
    : "no step of oriel wrote it";
  return corruptError(keys, what, { cause, applied });
}
