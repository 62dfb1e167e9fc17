/** Overhead of a string in V8's heap, in bytes, rounding included. */
const STRING_BYTES = 24;
const WIDE = /[\u0100-\uffff]/;

/** Bytes of a key and value in the table of a Map. The table has room for up to twice as many entries. */
export const SLOT_BYTES = 48;
/** Overhead of a typed array with its own buffer, in bytes, without its content. */
export const ARRAY_BYTES = 208;

/**
 * Bytes of a string in the heap: one per character, or two if any character is beyond Latin-1. The search also flattens
 * the string, so that a string joined from slices of longer strings does not keep those in memory.
 */
export function textBytes(text: string): number {
  return STRING_BYTES + (WIDE.test(text) ? 2 : 1) * text.length;
}

/** Copies the text. A slice of a long string would keep the whole of that string in memory. */
export function ownText(text: string): string {
  return text.length < 2 ? text : [text.slice(0, 1), text.slice(1)].join("");
}
