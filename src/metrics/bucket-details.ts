import { CELL } from "./cells.ts";

/** One bucket as it was when it was read; RTs in ms, NaN without any. */
export interface BucketDetails {
  /** Ms since 1970. */
  startMs: number;
  success: number;
  exception: number;
  pass: number;
  block: number;
  occupiedPass: number;
  /** Sum of RTs over successes; the sum where there is no success. */
  avgRt: number;
  minRt: number;
  maxRt: number;
}

export function detailsOf(startMs: number, row: Float64Array): BucketDetails {
  const get = (cell: number) => row[cell] as number;
  const success = get(CELL.success);
  const hasRt = get(CELL.minRt) !== Infinity;
  return {
    startMs,
    success,
    exception: get(CELL.exception),
    pass: get(CELL.pass),
    block: get(CELL.block),
    occupiedPass: get(CELL.occupiedPass),
    avgRt: hasRt ? get(CELL.rt) / Math.max(1, success) : Number.NaN,
    minRt: hasRt ? get(CELL.minRt) : Number.NaN,
    maxRt: hasRt ? get(CELL.maxRt) : Number.NaN,
  };
}
