import { bytesOfBase64 } from "../base64.ts";
import { OrielError } from "../errors.ts";

const TEXT = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Whether a column of times is base64 text instead of i64 bytes. The two cannot be confused: text has no zero byte, but
 * the first i64 time has one, for all ms from 1970 to the year 8 919 000.
 */
export function isBase64(times: Uint8Array): boolean {
  return times.length > 0 && !times.subarray(0, 8).includes(0);
}

/** Decodes base64 text. Throws CORRUPT if the text is not base64. */
export function fromBase64(field: string, text: Uint8Array): Uint8Array {
  const ascii = new TextDecoder("latin1").decode(text);
  if (ascii.length % 4 !== 0 || !TEXT.test(ascii))
    throw new OrielError("CORRUPT", `the field ${field} holds neither numbers as bytes nor their base64 text`);
  return bytesOfBase64(ascii);
}
