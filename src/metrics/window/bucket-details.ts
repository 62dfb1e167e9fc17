import { CELL } from "./cells.ts";

/** A copy of one bucket. Latencies are in ms, and NaN if none was recorded. */
export interface BucketDetails {
  /** Ms since 1970. */
  startMs: number;
  success: number;
  failure: number;
  allowed: number;
  denied: number;
  borrowed: number;
  /** Sum of the latencies, divided by the number of successes; the sum itself if there is no success. */
  meanLatencyMs: number;
  minLatencyMs: number;
  maxLatencyMs: number;
}

export function detailsOf(startMs: number, row: Float64Array): BucketDetails {
  const get = (cell: number) => row[cell] as number;
  const success = get(CELL.success);
  const hasLatency = get(CELL.minLatencyMs) !== Number.POSITIVE_INFINITY;
  return {
    startMs,
    success,
    failure: get(CELL.failure),
    allowed: get(CELL.allowed),
    denied: get(CELL.denied),
    borrowed: get(CELL.borrowed),
    meanLatencyMs: hasLatency ? get(CELL.latencySumMs) / Math.max(1, success) : Number.NaN,
    minLatencyMs: hasLatency ? get(CELL.minLatencyMs) : Number.NaN,
    maxLatencyMs: hasLatency ? get(CELL.maxLatencyMs) : Number.NaN,
  };
}
