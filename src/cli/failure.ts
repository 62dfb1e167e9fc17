import { OrielError } from "../errors.ts";
import { safeText } from "./row.ts";

/** One line for any error: `oriel: CODE message`. With ORIEL_DEBUG=1 the whole stack. */
export function failureText(error: unknown): string {
  if (process.env.ORIEL_DEBUG === "1" && error instanceof Error)
    return `${(error.stack ?? "").split("\n").map(printable).join("\n")}\n`;
  if (error instanceof OrielError) return `oriel: ${error.code} ${oneLine(error.message)}\n`;
  const { code, message } = error as NodeJS.ErrnoException;
  return `oriel: ${oneLine(code === undefined || message.includes(code) ? String(message ?? error) : `${code} ${message}`)}\n`;
}

/** The text on one line, with control characters escaped. */
export function oneLine(text: string): string {
  return printable(text.trim().replace(/\s*\n\s*/g, " "));
}

function printable(text: string): string {
  return safeText(text, Number.POSITIVE_INFINITY);
}
