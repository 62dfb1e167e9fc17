import { argumentError } from "../../base/errors.ts";
import { outcomeOf } from "./outcome.ts";
import type { Choice, LineParser, Outcome, Selection } from "./reading.ts";

/**
 * host ident user [time] "request" status bytes, then more fields ("referer" "agent"). The host is an address or a name,
 * the ident `-` or a name, and the user may contain blanks if its words begin with letters. Otherwise what a virtual
 * host, a container or a clock writes in front of a line would be read as the host, and the host as a user. The bound on
 * the time's length keeps the cost of a hostile line linear.
 */
const LINE =
  /^([\w.-]+|(?=[^ ]*:[^ ]*:)[\da-fA-F:.]+(?:%\w+)?) (?:-|[a-zA-Z_][\w-]*) (?:\S+|\p{L}\S*(?: \p{L}\S*)+) \[([^\]]{20,32})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: |$)/u;

const NUMERIC_PARTS = ["bytes", "status"];
const KEY_PARTS = ["status", "status-class", "path", "method", "host"];

/** True for a line of a common or combined access log. */
export function isAccessLogLine(text: string): boolean {
  return LINE.test(text);
}

/**
 * Common and combined access logs. The value is the bytes sent (`-` is 0) or the status; the path comes without its
 * query.
 */
export class AccessLogParser implements LineParser {
  readonly choice: Choice;
  readonly #key: string | undefined;

  constructor({ time = "time", value = "bytes", key }: Selection) {
    if (time !== "time") throw argumentError("--time", time, '"time" for an access log');
    if (!NUMERIC_PARTS.includes(value))
      throw argumentError("--value", value, `${NUMERIC_PARTS.join(" or ")} for an access log`);
    if (key !== undefined && !KEY_PARTS.includes(key))
      throw argumentError("--key", key, `one of ${KEY_PARTS.join(", ")} for an access log`);
    this.choice = { form: "access log", time, value };
    this.#key = key;
  }

  push(lineNumber: number, text: string, emit: (outcome: Outcome) => void): void {
    if (text.trim() === "") return;
    const match = LINE.exec(text);
    if (!match) {
      emit({ lineNumber, reason: "it is not a line of an access log" });
      return;
    }
    const [, host = "", time, request = "", status = "", bytes] = match;
    const number = this.choice.value === "status" ? status : bytes === "-" ? "0" : bytes;
    emit(outcomeOf(lineNumber, time, number, keyOf(this.#key, host, request, status)));
  }

  finish(): void {}
}

function keyOf(part: string | undefined, host: string, request: string, status: string): string | null {
  const [method = "", target = ""] = request.split(" ");
  switch (part) {
    case undefined:
      return null;
    case "status":
      return status;
    case "status-class":
      return `${status[0]}xx`;
    case "path":
      return target.split("?")[0] as string;
    case "method":
      return method;
    default:
      return host;
  }
}
