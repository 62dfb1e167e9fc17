// Metrics of a fleet of processes.

export type { FleetMetric } from "../../fleet/fleet-metric.ts";
export { type FleetEvents, FleetMetrics } from "../../fleet/fleet-metrics.ts";
export type { FleetMetricsOptions } from "../../fleet/options.ts";
export type { ProcessTotals } from "../../fleet/totals.ts";
export type { PercentileMethod } from "../../kernel/percentile/percentile.ts";
export type { BucketDetails } from "../../metrics/bucket-details.ts";
export type { LatencyPercentileOptions } from "../../metrics/latency-percentiles.ts";
export type { MetricView } from "../../metrics/metric-view.ts";
export * from "./stores.ts";
