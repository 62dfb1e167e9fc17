import { CELL } from "../metrics/cells.ts";
import { MetricRing } from "../metrics/metric-ring.ts";
import { MetricView } from "../metrics/metric-view.ts";
import { BLOCK, EXCEPTION, PASS, RT_MAX, RT_MIN, RT_SUM, START, SUCCESS } from "./bucket.ts";
import type { FleetSettings } from "./options.ts";

const FIELD_OF_CELL = [
  [CELL.pass, PASS],
  [CELL.block, BLOCK],
  [CELL.success, SUCCESS],
  [CELL.exception, EXCEPTION],
  [CELL.rt, RT_SUM],
  [CELL.minRt, RT_MIN],
  [CELL.maxRt, RT_MAX],
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
