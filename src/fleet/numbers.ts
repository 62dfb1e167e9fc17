import { CELL } from "../metrics/cells.ts";
import { MetricRing } from "../metrics/metric-ring.ts";
import { MetricView } from "../metrics/metric-view.ts";
import { ALLOWED, DENIED, FAILURE, LATENCY_MAX, LATENCY_MIN, LATENCY_SUM, START, SUCCESS } from "./bucket.ts";
import type { FleetSettings } from "./options.ts";

const FIELD_OF_CELL = [
  [CELL.allowed, ALLOWED],
  [CELL.denied, DENIED],
  [CELL.success, SUCCESS],
  [CELL.failure, FAILURE],
  [CELL.latencySumMs, LATENCY_SUM],
  [CELL.minLatencyMs, LATENCY_MIN],
  [CELL.maxLatencyMs, LATENCY_MAX],
] as const;

/** What a `MetricWindow` would answer at `nowMs` that had counted all these; it does not change any more. */
export function numbersOf(buckets: readonly Float64Array[], nowMs: number, settings: FleetSettings): MetricView {
  const { shape, intervalMs, mode } = settings;
  const ring = new MetricRing(shape.sampleCount, intervalMs, false);
  for (const bucket of buckets) {
    ring.turn(bucket[START]!);
    for (const [cell, field] of FIELD_OF_CELL) ring.current[cell] = bucket[field]!;
  }
  // As reads of a window do there: the present bucket takes the place of the one that is an interval old.
  if (mode === "sentinel") ring.turn(nowMs);
  const source = { ring, mode, clock: () => nowMs, percentiles: undefined, refresh: () => {} };
  return new MetricView(source, shape.sampleCount, intervalMs);
}
