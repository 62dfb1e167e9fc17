import { OrielError } from "../../base/errors.ts";
import { jsonLine, oneLine, safeText } from "./safe-text.ts";

/** One line for any error: `oriel: CODE message`. With ORIEL_DEBUG=1 the whole stack. */
export function failureText(error: unknown): string {
  if (process.env.ORIEL_DEBUG === "1" && error instanceof Error)
    return (error.stack ?? "")
      .split("\n")
      .map((line) => `${safeText(line, Number.POSITIVE_INFINITY)}\n`)
      .join("");
  const { code, message } = partsOf(error);
  return `oriel: ${oneLine(code === null || (message.includes(code) && !(error instanceof OrielError)) ? message : `${code} ${message}`)}\n`;
}

/** The same for `--json`: one object with `code`, null if there is none, `message`, and `help` if oriel has a page. */
export function failureJson(error: unknown): string {
  return jsonLine(partsOf(error));
}

/** An error as stderr shows it: its line, and the page that explains its code. */
export function failureLines(error: unknown, isJson: boolean | undefined): string {
  if (isJson) return failureJson(error);
  return error instanceof OrielError ? `${failureText(error)}see ${error.help}\n` : failureText(error);
}

export function partsOf(error: unknown): { code: string | null; message: string; help?: string } {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  const help = error instanceof OrielError ? { help: error.help } : {};
  return { code: typeof code === "string" ? code : null, message: String(message ?? error), ...help };
}
