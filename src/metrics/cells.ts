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

export function addCount(cells: Float64Array, at: number, count: number): void {
  checkCount(count);
  cells[at] = (cells[at] as number) + count;
}

/** For an RT that is not between the row's least and greatest: widens them. What is between them needs no check. */
export function widen(cells: Float64Array, row: number, rtMs: number): void {
  checkRt(rtMs);
  if (rtMs < (cells[row + CELL.minRt] as number)) cells[row + CELL.minRt] = rtMs;
  if (rtMs > (cells[row + CELL.maxRt] as number)) cells[row + CELL.maxRt] = rtMs;
}

export function checkCount(count: number): void {
  if (!(count >= 0 && Number.isSafeInteger(count)))
    throw argumentError("count", count, "a whole number of events, 0 or more");
}

export function checkRt(rtMs: number): void {
  if (typeof rtMs !== "number" || !(rtMs >= 0 && rtMs < Infinity))
    throw argumentError("rtMs", rtMs, "a response time in ms, a finite number, 0 or more");
}
