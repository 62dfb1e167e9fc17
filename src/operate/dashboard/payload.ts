import type { QueuedMessage } from "../../queue/message.ts";
import type { PayloadText } from "./parts.ts";

const MAX_CHARACTERS = 2000;
const MAX_BYTES = 512;
/** Control characters that no text has. */
const NO_TEXT = /[^\P{Cc}\t\n\r]/u;

/** A message's payload for people: JSON with line breaks, text, or the bytes in hexadecimal. */
export function payloadText({ payload, corrupt }: QueuedMessage): PayloadText {
  if (corrupt) return { form: "corrupt", ...cut(`${corrupt.why}; base64: ${corrupt.base64}`) };
  if (typeof payload === "string") return { form: "text", ...cut(payload) };
  if (!(payload instanceof Uint8Array)) return { form: "json", ...cut(JSON.stringify(payload, null, 2)) };
  const text = textOf(payload);
  if (text !== undefined) return { form: "text", ...cut(text) };
  const shown = [...payload.subarray(0, MAX_BYTES)].map((byte) => byte.toString(16).padStart(2, "0"));
  return { form: "hex", text: shown.join(" "), isCut: payload.length > MAX_BYTES };
}

/** The bytes as UTF-8, or undefined if they are none or hold control characters. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return NO_TEXT.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Never between the halves of a character. */
function cut(text: string): { text: string; isCut: boolean } {
  if (text.length <= MAX_CHARACTERS) return { text, isCut: false };
  return { text: text.slice(0, MAX_CHARACTERS).replace(/[\ud800-\udbff]$/, ""), isCut: true };
}
