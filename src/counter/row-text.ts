import { isStorable, LEAST_START_MS, longestValue, MOST_START_MS } from "./bounds.ts";
import { readValues } from "./field.ts";

const MINUTE_MS = 60_000;
/** Of a layout's text: format, shards, finest bucket, time zone; then the dimensions. */
const BEFORE_DIMENSIONS = 4;

const known = new Map<string, number>();

/** How many dimensions a layout has. */
function dimensionsOf(layout: string): number {
  let count = known.get(layout);
  if (count === undefined) {
    count = layout.split("|").length - BEFORE_DIMENSIONS;
    if (known.size > 1000) known.clear();
    known.set(layout, count);
  }
  return count;
}

/** Whether a row, `<start>|<value>...`, is one that a counter of this layout may have written. */
export function isRow(row: string, layout: string): boolean {
  const bar = row.indexOf("|");
  const start = row.slice(0, bar);
  if (bar < 1 || !/^-?\d{1,10}$/.test(start)) return false;
  const startMs = Number(start) * MINUTE_MS;
  if (startMs < LEAST_START_MS || startMs > MOST_START_MS) return false;
  // Only these three characters are escaped.
  if (row.includes("%") && /%(?!25|7c|0a)/.test(row)) return false;
  const values = readValues(row);
  const dimensions = dimensionsOf(layout);
  const longest = longestValue(dimensions);
  return values.length === dimensions && values.every((value) => isStorable(value, longest));
}
