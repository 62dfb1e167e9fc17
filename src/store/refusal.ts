import { OrielError, type OrielErrorCode } from "../errors.ts";

const CODES: ReadonlySet<string> = new Set<OrielErrorCode>([
  "ARGUMENT",
  "CLASH",
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

/**
 * The error of one key's { code, text } reply. "ERROR" was caught by the wrapper: the step broke off, and may have
 * written before. `alreadyApplied` is true where an earlier, unanswered attempt of the same call may have been run.
 */
export function errorOfReply(operation: string, code: string, text: string, alreadyApplied: boolean): OrielError {
  if (CODES.has(code))
    return new OrielError(code as OrielErrorCode, text, {
      transient: TRANSIENT.has(code),
      applied: alreadyApplied ? "unknown" : "no",
    });
  const cause = new Error(text);
  if (text.startsWith("OOM "))
    return new OrielError("OVERLOADED", `${operation}: Redis is out of memory`, {
      cause,
      transient: true,
      applied: "unknown",
    });
  // What the server would not do now; a slot on its way to another node, for instance.
  if (/^(READONLY|MISCONF|NOREPLICAS|MASTERDOWN|NOPERM|UNKILLABLE) |non.local key/.test(text))
    return new OrielError("UNAVAILABLE", `${operation}: Redis broke the step off`, {
      cause,
      transient: true,
      applied: "unknown",
    });
  // WRONGTYPE comes from a step's first read; anything else is a value that no step of ours has written.
  const applied = text.startsWith("WRONGTYPE ") && !alreadyApplied ? "no" : "unknown";
  return new OrielError("CORRUPT", `${operation}: what is stored under the key is not what it should be`, {
    cause,
    applied,
  });
}
