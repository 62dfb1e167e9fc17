/** A string's own part in V8's heap, rounding included. */
const STRING_BYTES = 24;
const WIDE = /[\u0100-\uffff]/;

/** What a key of a Map takes in it, with its value: the table has room for up to twice as many. */
export const SLOT_BYTES = 48;
/** A typed array with a buffer of its own, without what is in it. */
export const ARRAY_BYTES = 208;

/**
 * What a string takes: a byte a character, two where one of them is beyond Latin-1. The search leaves the string in one piece,
 * so that one put together of pieces of longer strings does not keep those.
 */
export function textBytes(text: string): number {
  return STRING_BYTES + (WIDE.test(text) ? 2 : 1) * text.length;
}

/** The same text as a string of its own: a piece of a long string keeps the whole of it. */
export function ownText(text: string): string {
  return text.length < 2 ? text : [text.slice(0, 1), text.slice(1)].join("");
}
