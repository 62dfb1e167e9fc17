import { argumentErrorOf } from "../../base/site.ts";

/** Index of each number of a bucket in its row of a Float64Array. Latencies are in ms. */
export const CELL = {
  success: 0,
  failure: 1,
  latencySumMs: 2,
  minLatencyMs: 3,
  maxLatencyMs: 4,
  allowed: 5,
  denied: 6,
  borrowed: 7,
} as const;

/** Numbers in a row: 64 bytes, one line of a processor's cache. */
export const ROW = 8;

export function clearRow(cells: Float64Array, row: number): void {
  cells.fill(0, row, row + ROW);
  cells[row + CELL.minLatencyMs] = Number.POSITIVE_INFINITY;
  cells[row + CELL.maxLatencyMs] = Number.NEGATIVE_INFINITY;
}

export function addCount(cells: Float64Array, at: number, count: number, structure: string): void {
  checkCount(count, structure);
  cells[at] = (cells[at] as number) + count;
}

/** Checks a latency, and updates the minimum and maximum of the row. */
export function updateExtremes(cells: Float64Array, row: number, latencyMs: number, structure: string): void {
  checkLatency(latencyMs, structure);
  if (latencyMs < (cells[row + CELL.minLatencyMs] as number)) cells[row + CELL.minLatencyMs] = latencyMs;
  if (latencyMs > (cells[row + CELL.maxLatencyMs] as number)) cells[row + CELL.maxLatencyMs] = latencyMs;
}

export function checkCount(count: number, structure: string): void {
  if (!(Number.isSafeInteger(count) && count >= 0))
    throw argumentErrorOf(structure, "count", count, "a whole number of events, 0 or more");
}

export function checkLatency(latencyMs: number, structure: string): void {
  if (typeof latencyMs !== "number" || !(latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY))
    throw argumentErrorOf(structure, "latencyMs", latencyMs, "a response time in ms, a finite number, 0 or more");
}

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
