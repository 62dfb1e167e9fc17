// Metrics of a fleet of processes.

export type { PercentileMethod } from "../../engine/kernel/percentile/percentile.ts";
export type { FleetMetric } from "../../metrics/fleet/fleet-metric.ts";
export { type FleetEvents, FleetMetrics } from "../../metrics/fleet/fleet-metrics.ts";
export type { FleetMetricsOptions } from "../../metrics/fleet/options.ts";
export type { ProcessTotals } from "../../metrics/fleet/totals.ts";
export type { BucketDetails } from "../../metrics/window/cells.ts";
export type { LatencyPercentileOptions } from "../../metrics/window/latency-percentiles.ts";
export type { MetricView } from "../../metrics/window/metric-view.ts";
export * from "./stores.ts";
