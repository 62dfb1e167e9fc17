import { argumentError } from "../errors.ts";

/** Where a bucket's numbers stand in its row of a Float64Array: counts, sum and extremes of the RTs in ms. */
export const CELL = {
  success: 0,
  exception: 1,
  rt: 2,
  minRt: 3,
  maxRt: 4,
  pass: 5,
  block: 6,
  occupiedPass: 7,
} as const;

/** Numbers in a row: 64 bytes, one line of a processor's cache. */
export const ROW = 8;

export function clearRow(cells: Float64Array, row: number): void {
  cells.fill(0, row, row + ROW);
  cells[row + CELL.minRt] = Infinity;
  cells[row + CELL.maxRt] = -Infinity;
}

/** Throws ARGUMENT for what cannot be counted; apart, so that callers that check stay small. */
export function refuseCount(count: number): never {
  throw argumentError("count", count, "a whole number of events, 0 or more");
}

export function refuseRt(rtMs: number): never {
  throw argumentError("rtMs", rtMs, "a response time in ms, a finite number, 0 or more");
}
