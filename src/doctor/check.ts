import { ServerError } from "../store/delivery/client.ts";
import { reasonOf } from "../store/health/reason.ts";

/**
 * How well oriel works with a server. A note is a fact, or a restriction that few programs meet. Unknown means that the
 * server does not let this user ask. Degraded: oriel works, with a loss that the text names. Unusable: it does not work.
 */
export type Verdict = "good" | "note" | "unknown" | "degraded" | "unusable";

export type CheckName =
  | "connection"
  | "version"
  | "mode"
  | "writes"
  | "memory"
  | "eviction"
  | "persistence"
  | "rights"
  | "scripts"
  | "undeclared"
  | "slots"
  | "arguments"
  | "functions"
  | "messages"
  | "clock"
  | "latency"
  | "steps";

/** The result of one probe. */
export interface Check {
  readonly name: CheckName;
  readonly verdict: Verdict;
  /** The finding, and what oriel does then. One line. */
  readonly text: string;
  /** What to change, if anything. One line. */
  readonly advice?: string;
  /** The measured values. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A reason ends with the server's words in parentheses, or with an advice after them. */
const BEFORE_ADVICE = /(?<=\)); /;

/** From best to worst. A note leaves the verdict of a report good. Unknown makes it degraded: a loss may be where the doctor could not look. */
const ORDER: readonly Verdict[] = ["good", "note", "unknown", "degraded", "unusable"];

/** The verdict of a whole report. */
export function worstOf(checks: readonly Check[]): "good" | "degraded" | "unusable" {
  const worst = Math.max(0, ...checks.map(({ verdict }) => ORDER.indexOf(verdict)));
  if (worst < ORDER.indexOf("unknown")) return "good";
  return ORDER[worst] === "unusable" ? "unusable" : "degraded";
}

/** Whether the reply says that the user may not send the command, or that the server does not have it. */
export function isMissing(reply: unknown): reply is ServerError {
  return (
    reply instanceof ServerError &&
    /^NOPERM\b|^ERR (?:unknown (?:sub)?command|The user executing|ACL failure)|not (?:supported|allowed|available)/i.test(
      reply.message,
    )
  );
}

/** The reason of an error in words for an operator, else its message. Without the advice. */
export function wordsOf(error: unknown): string {
  return reasonOf(error)?.text.split(BEFORE_ADVICE)[0] ?? (error instanceof Error ? error.message : String(error));
}

/** What to change, by the reason of an error. A property to spread into a check. */
export function adviceOf(error: unknown): { advice?: string } {
  const [, advice] = reasonOf(error)?.text.split(BEFORE_ADVICE) ?? [];
  return advice === undefined ? {} : { advice: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.` };
}
