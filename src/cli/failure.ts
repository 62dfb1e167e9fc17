import { OrielError } from "../errors.ts";

/** One line for an error, whatever it is: `oriel: CODE message`; with ORIEL_DEBUG=1 the whole stack. */
export function failureText(error: unknown): string {
  if (process.env.ORIEL_DEBUG === "1" && error instanceof Error) return `${error.stack}\n`;
  if (error instanceof OrielError) return `oriel: ${error.code} ${oneLine(error.message)}\n`;
  const { code, message } = error as NodeJS.ErrnoException;
  return `oriel: ${oneLine(code === undefined || message.includes(code) ? String(message ?? error) : `${code} ${message}`)}\n`;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ");
}
