import { argumentError } from "../../errors.ts";
import { outcomeOf } from "./outcome.ts";
import type { LineParser, Outcome, Selection, ValueChoice } from "./reading.ts";

/**
 * host ident user [time] "request" status bytes, then more fields ("referer" "agent"). The user may contain blanks.
 * The bound on the time's length keeps the cost of a hostile line linear.
 */
const LINE = /^(\S+) \S+ (?:\S.*?) \[([^\]]{20,32})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: |$)/;

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
  readonly value: ValueChoice;
  readonly #key: string | undefined;

  constructor({ time = "time", value = "bytes", key }: Selection) {
    if (time !== "time") throw argumentError("--time", time, '"time" for an access log');
    if (!NUMERIC_PARTS.includes(value))
      throw argumentError("--value", value, `${NUMERIC_PARTS.join(" or ")} for an access log`);
    if (key !== undefined && !KEY_PARTS.includes(key))
      throw argumentError("--key", key, `one of ${KEY_PARTS.join(", ")} for an access log`);
    this.value = { name: value, guess: undefined };
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
    const number = this.value.name === "status" ? status : bytes === "-" ? "0" : bytes;
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
