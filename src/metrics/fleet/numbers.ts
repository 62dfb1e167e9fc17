import { CELL } from "../window/cells.ts";
import { MetricRing } from "../window/metric-ring.ts";
import { MetricView } from "../window/metric-view.ts";
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

/** The answer of a `MetricWindow` at `nowMs` with these buckets. A snapshot: it does not change. */
export function viewOf(buckets: readonly Float64Array[], nowMs: number, settings: FleetSettings): MetricView {
  const { shape, intervalMs, mode } = settings;
  const ring = new MetricRing(shape.sampleCount, intervalMs, false);
  for (const bucket of buckets) {
    ring.turn(bucket[START]!);
    for (const [cell, field] of FIELD_OF_CELL) ring.current[cell] = bucket[field]!;
  }
  // As in `MetricWindow`: the current bucket replaces the one that is an interval old.
  if (mode === "sentinel") ring.turn(nowMs);
  const source = { ring, mode, clock: () => nowMs, percentiles: undefined, refresh: () => {} };
  return new MetricView(source, shape.sampleCount, intervalMs);
}
