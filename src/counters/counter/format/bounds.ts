/** Bounds that every supported database can store. A value outside them is refused when it is counted. */

const KEY_CHARACTERS = 765;
const MAX_VALUE_CHARACTERS = 255;

/**
 * Maximum UTF-16 units of a value: 255 with up to three dimensions, otherwise 765 divided by the dimensions. A primary
 * key has no more room.
 */
export function longestValue(dimensions: number): number {
  return Math.min(MAX_VALUE_CHARACTERS, Math.floor(KEY_CHARACTERS / Math.max(1, dimensions)));
}

/** Whether every database stores the text unchanged. None accepts NUL or a lone surrogate in all encodings. */
export function isStorable(text: unknown, longest: number): text is string {
  return typeof text === "string" && text.length <= longest && !/[\0\p{Surrogate}]/u.test(text);
}

/** The years 1000 to 9999: all databases have timestamps for them, with days of any time zone. */
export const MIN_START_MS = /* @__PURE__ */ Date.UTC(1000, 0);
export const MAX_START_MS = /* @__PURE__ */ Date.UTC(9999, 11, 31, 23, 59);
