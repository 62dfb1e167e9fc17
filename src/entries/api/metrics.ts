// Windows of metrics, flow rules, and exporters for Prometheus and OpenTelemetry.

export type { MetricsSources } from "../../exporters/collect.ts";
export type { MetricInfo, MetricsSource, Sample } from "../../exporters/metric.ts";
export type { ExporterOptions } from "../../exporters/options.ts";
export { type OtelMeter, observeOtel } from "../../exporters/otel.ts";
export { type PrometheusRegistry, prometheusText, registerPrometheus } from "../../exporters/prometheus.ts";
export { type RegisterAllOptions, registerAll } from "../../exporters/register-all.ts";
export { type BreakerLike, breakerSource } from "../../exporters/sources/breaker-source.ts";
export { type DrainLike, type DrainSourceEvents, drainSource } from "../../exporters/sources/drain-source.ts";
export { type FleetLike, type FleetSourceOptions, fleetSource } from "../../exporters/sources/fleet-source.ts";
export { type DecisionLike, type LimiterLike, limiterSource } from "../../exporters/sources/limiter-source.ts";
export {
  type QueueLike,
  queueSource,
  type WorkerLike,
  type WorkerSourceEvents,
} from "../../exporters/sources/queue-source.ts";
export {
  type SeriesLike,
  type SeriesSourceOptions,
  type StatsLike,
  seriesSource,
} from "../../exporters/sources/series-source.ts";
export { type NamedWindows, type WindowSourceOptions, windowSource } from "../../exporters/sources/window-source.ts";
export { ClusterMetric, type ClusterMetricOptions } from "../../flow/cluster-metric.ts";
export { ClusterParamMetric, type ClusterParamMetricOptions } from "../../flow/cluster-param-metric.ts";
export type { FlowDecision, FlowNode, TrafficShapingController, TryPassOptions } from "../../flow/controller.ts";
export { RejectController, type RejectOptions } from "../../flow/reject-controller.ts";
export { ThrottlingController, type ThrottlingOptions } from "../../flow/throttling-controller.ts";
export type { WarmUpOptions } from "../../flow/warm-up.ts";
export { WarmUpController } from "../../flow/warm-up-controller.ts";
export { WarmUpThrottlingController, type WarmUpThrottlingOptions } from "../../flow/warm-up-throttling-controller.ts";
export { type History, type HistoryOptions, recordHistory } from "../../history/record-history.ts";
export type { Column } from "../../kernel/contract.ts";
export type { NanPolicy } from "../../kernel/nan.ts";
export type { PercentileMethod } from "../../kernel/percentile/percentile.ts";
export type { BucketDetails } from "../../metrics/bucket-details.ts";
export type { LatencyPercentileOptions, LatencySeriesOptions } from "../../metrics/latency-percentiles.ts";
export { LeapArray, type LeapArrayOptions } from "../../metrics/leap-array.ts";
export type { LeapMode } from "../../metrics/leap-mode.ts";
export { MetricBucket } from "../../metrics/metric-bucket.ts";
export type { MetricView } from "../../metrics/metric-view.ts";
export { MetricWindow, type MetricWindowOptions } from "../../metrics/metric-window.ts";
export { OccupiableLeapArray } from "../../metrics/occupiable-leap-array.ts";
export { StatisticNode, type StatisticNodeOptions } from "../../metrics/statistic-node.ts";
export type { WindowWrap } from "../../metrics/window-wrap.ts";
export type { LocalSeriesOptions } from "../../stats/local-series-options.ts";
export * from "./stores.ts";
