import { ServerError } from "../../store/delivery/client.ts";
import { reasonOf } from "../../store/health/reason.ts";

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
  | "steps"
  | "kernel";

/** The result of one probe. */
export interface Check {
  readonly name: CheckName;
  readonly verdict: Verdict;
  /** The finding, and what oriel does then. One line. */
  readonly text: string;
  /** What to change, if anything. One line. */
  readonly advice?: string;
  /** The rules that the user lacks, as ACL SETUSER takes them. They are the advice, then. */
  readonly rules?: readonly string[];
  /** The measured values. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A reason ends with the server's words in parentheses, or with an advice after them. */
const BEFORE_ADVICE = /(?<=\)); /;

/** What to change, for reasons without an advice of their own. */
const ADVICE: readonly (readonly [beginning: string, advice: string])[] = [
  ["nothing accepts connections", "Start the server, or correct the host and the port."],
  ["the host name is unknown", "Correct the host name."],
  [
    "the server refused the user name or password",
    "Correct the user name or the password. In a URL, percent-encode both (encodeURIComponent).",
  ],
  ["the server requires a password", "Pass it in the URL: redis://user:password@host:port."],
  ["the server does not have this database", "Correct the number behind the port in the URL, or leave it out."],
];

/** In a script, the error of its command begins with ERR. */
const NO_RIGHT = /^NOPERM\b|^ERR ACL failure/;
const COMMAND = /\brun the '([^']+)' command/;

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

/**
 * What to change, by the reason of an error: the missing rule, or an advice. Properties to spread into a check. `pattern`: that
 * of the command's key or channel, as "~oriel:*".
 */
export function remedyOf(error: unknown, pattern?: string): Pick<Check, "advice" | "rules"> {
  const rules = rulesOf([error], pattern);
  if (rules.length > 0) return { rules };
  const { text = "" } = reasonOf(error) ?? {};
  const [, advice] = text.split(BEFORE_ADVICE);
  if (advice !== undefined) return { advice: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.` };
  const [, own] = ADVICE.find(([beginning]) => text.startsWith(beginning)) ?? [];
  return own === undefined ? {} : { advice: own };
}

/** The rules without which the server refused the commands. */
export function rulesOf(errors: readonly unknown[], pattern?: string): string[] {
  return errors.flatMap((error) => {
    if (!(error instanceof ServerError) || !NO_RIGHT.test(error.message)) return [];
    const [, command] = COMMAND.exec(error.message) ?? [];
    return command !== undefined ? [`+${command}`] : (pattern ?? []);
  });
}

/** The pattern of all keys like one of the probe, whose tag is in braces. */
export function patternOf(key: string): string {
  return `~${key.slice(0, key.indexOf("{"))}*`;
}

/** Joins words as a sentence does. */
export function list(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
