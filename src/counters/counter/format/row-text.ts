import { isStorable, longestValue, MAX_START_MS, MIN_START_MS } from "./bounds.ts";
import { readValues } from "./field.ts";
import { dimensionCounts } from "./layout.ts";

const MINUTE_MS = 60_000;
const known = new Map<string, { first: number; all: number }>();

function countsOf(layout: string): { first: number; all: number } {
  let counts = known.get(layout);
  if (counts === undefined) {
    counts = dimensionCounts(layout);
    if (known.size > 1000) known.clear();
    known.set(layout, counts);
  }
  return counts;
}

/** Whether a counter of this layout or of an older one can have written the row `<start>|<value>...`. */
export function isRow(row: string, layout: string): boolean {
  const bar = row.indexOf("|");
  const start = row.slice(0, bar);
  if (bar < 1 || !/^-?\d{1,10}$/.test(start)) return false;
  const startMs = Number(start) * MINUTE_MS;
  if (startMs < MIN_START_MS || startMs > MAX_START_MS) return false;
  // Only these three characters are escaped.
  if (row.includes("%") && /%(?!25|7c|0a)/.test(row)) return false;
  const values = readValues(row);
  const { first, all } = countsOf(layout);
  const longest = longestValue(values.length);
  return values.length >= first && values.length <= all && values.every((value) => isStorable(value, longest));
}
