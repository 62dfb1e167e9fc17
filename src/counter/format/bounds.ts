/** What every database that counts are drained to can keep: so nothing is counted that could not be drained. */

const KEY_CHARACTERS = 765;
const LONGEST_VALUE = 255;
const MINUTE_MS = 60_000;

/** Most UTF-16 units of a value: 255 of up to three dimensions, 765 shared among more. A primary key holds no more. */
export function longestValue(dimensions: number): number {
  return Math.min(LONGEST_VALUE, Math.floor(KEY_CHARACTERS / Math.max(1, dimensions)));
}

/** Whether every database keeps the text as it is: none has NUL or half a surrogate pair in all encodings. */
export function isStorable(text: unknown, longest: number): text is string {
  return typeof text === "string" && text.length <= longest && !/[\0\p{Surrogate}]/u.test(text);
}

/** What all databases have a timestamp for, with days of any time zone: the years 1000 to 9999. */
export const LEAST_START_MS = Date.UTC(1000, 0);
export const MOST_START_MS = Date.UTC(10_000, 0) - MINUTE_MS;
