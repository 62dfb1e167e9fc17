// Windows of metrics, flow rules, and exporters for Prometheus.

export type { Column } from "../../engine/kernel/contract.ts";
export type { NanPolicy } from "../../engine/kernel/nan.ts";
export type { PercentileMethod } from "../../engine/kernel/percentile/percentile.ts";
export type { LocalSeriesOptions } from "../../engine/stats/local-series-options.ts";
export { ClusterMetric, type ClusterMetricOptions } from "../../metrics/flow/cluster-metric.ts";
export { ClusterParamMetric, type ClusterParamMetricOptions } from "../../metrics/flow/cluster-param-metric.ts";
export type {
  FlowDecision,
  FlowNode,
  TrafficShapingController,
  TryPassOptions,
} from "../../metrics/flow/controller.ts";
export { RejectController, type RejectOptions } from "../../metrics/flow/reject-controller.ts";
export { ThrottlingController, type ThrottlingOptions } from "../../metrics/flow/throttling-controller.ts";
export type { WarmUpOptions } from "../../metrics/flow/warm-up.ts";
export {
  WarmUpController,
  WarmUpThrottlingController,
  type WarmUpThrottlingOptions,
} from "../../metrics/flow/warm-up.ts";
export type { BucketDetails } from "../../metrics/window/cells.ts";
export type { LatencyPercentileOptions, LatencySeriesOptions } from "../../metrics/window/latency-percentiles.ts";
export type { LeapMode, WindowWrap } from "../../metrics/window/leap-array.ts";
export { LeapArray, type LeapArrayOptions, OccupiableLeapArray } from "../../metrics/window/leap-array.ts";
export { MetricBucket } from "../../metrics/window/metric-bucket.ts";
export type { MetricView } from "../../metrics/window/metric-view.ts";
export { MetricWindow, type MetricWindowOptions } from "../../metrics/window/metric-window.ts";
export { StatisticNode, type StatisticNodeOptions } from "../../metrics/window/statistic-node.ts";
export type { MetricsSources } from "../../operate/exporters/collect.ts";
export type {
  HistogramCounts,
  MetricInfo,
  MetricsSource,
  PowerCounts,
  Sample,
} from "../../operate/exporters/metric.ts";
export type { ExporterOptions } from "../../operate/exporters/options.ts";
export { type PrometheusRegistry, prometheusText, registerPrometheus } from "../../operate/exporters/prometheus.ts";
export { type RegisterAllOptions, registerAll } from "../../operate/exporters/register-all.ts";
export { type BreakerLike, breakerSource } from "../../operate/exporters/sources/breaker-source.ts";
export { type DrainLike, type DrainSourceEvents, drainSource } from "../../operate/exporters/sources/drain-source.ts";
export { type FleetLike, type FleetSourceOptions, fleetSource } from "../../operate/exporters/sources/fleet-source.ts";
export type { GroupLike } from "../../operate/exporters/sources/group-source.ts";
export { type DecisionLike, type LimiterLike, limiterSource } from "../../operate/exporters/sources/limiter-source.ts";
export {
  type QueueLike,
  queueSource,
  type WorkerLike,
  type WorkerSourceEvents,
} from "../../operate/exporters/sources/queue-source.ts";
export type { SeriesSourceOptions, StatsLike } from "../../operate/exporters/sources/series-settings.ts";
export { type SeriesLike, seriesSource } from "../../operate/exporters/sources/series-source.ts";
export {
  type NamedWindows,
  type WindowSourceOptions,
  windowSource,
} from "../../operate/exporters/sources/window-source.ts";
export { type History, type HistoryOptions, recordHistory } from "../../operate/history/record-history.ts";
export * from "./stores.ts";
